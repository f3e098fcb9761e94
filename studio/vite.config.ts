import { defineConfig } from 'vite';

// One script and one style sheet under fixed names: they are built into the limber command.
export default defineConfig({
  build: {
    target: 'es2022',
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 2000,
    modulePreload: false,
    rollupOptions: {
      output: {
        entryFileNames: 'studio.js',
        assetFileNames: 'studio[extname]',
        inlineDynamicImports: true,
      },
    },
  },
});
