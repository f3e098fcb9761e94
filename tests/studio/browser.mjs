// The studio in a real browser: node browser.mjs LIMBER NODE_MODULES

import './motion.mjs';
import './contacts.mjs';
import './editing.mjs';
import './solving.mjs';
import './files.mjs';
import './connection.mjs';
import './looks.mjs';
