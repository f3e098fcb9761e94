#!/usr/bin/env python3
"""The slider-crank of Joli, Seguy and Feng (2008) by the equations they print, with the coordinates of the nodes as
unknowns; shares no code with the engine. Shows by a Markdown table what the error of the rail depends on: how (28) is
tested, where the multipliers start, and rho of the rail."""
import math

MASS = (1.0, 0.5, 0.5, 1.0)  # of the nodes 11, 12, 21, 22
RHO = (1.5, 1.5, 0.4, 0.4)  # of the two revolute joints
JOINTS = ((0, 1), (2, 3), (4,))


def accelerate(q, v, lam, kp, kv):
    """Of the nodes under gravity and lambda; the length of each link is kept by (13), solved exactly."""
    fx = [lam[0], lam[2], -lam[2], 0.0]
    fy = [lam[1], lam[3], -lam[3], lam[4]]
    a = []
    for i in (0, 2):
        j, mi, mj = i + 1, MASS[i], MASS[i + 1]
        dx, dy = q[2 * i] - q[2 * j], q[2 * i + 1] - q[2 * j + 1]
        vx, vy = v[2 * i] - v[2 * j], v[2 * i + 1] - v[2 * j + 1]
        ax, ay, bx, by = fx[i] / mi, fy[i] / mi - 9.81, fx[j] / mj, fy[j] / mj - 9.81
        error = 2 * (dx * (ax - bx) + dy * (ay - by)) + 2 * (vx * vx + vy * vy)
        error += kv * 2 * (dx * vx + dy * vy) + kp * (dx * dx + dy * dy - 1)
        mu = -error / (4 * (dx * dx + dy * dy) * (1 / mi + 1 / mj))
        a += [ax + 2 * dx * mu / mi, ay + 2 * dy * mu / mi, bx - 2 * dx * mu / mj, by - 2 * dy * mu / mj]
    return a


def rows(x):
    return [x[0], x[1], x[2] - x[4], x[3] - x[5], x[7]]


def is_settled(change, lam, tolerance, by_joint):
    if not by_joint:
        return max(map(abs, change)) <= tolerance * max(map(abs, lam))
    return all(max(abs(change[r]) for r in joint) <= tolerance * max(abs(lam[r]) for r in joint) for joint in JOINTS)


def run(step, tolerance, by_joint, is_warm, rail_rho):
    """Largest |y22| in 10 s (None: the mechanism is lost) and evaluations per step."""
    rho = RHO + (rail_rho,)
    kp, kv = (0.2 * math.pi / step) ** 2, 0.04 * math.pi / step
    c = math.sqrt(0.5)
    q, v, lam = [0.0, 0.0, c, c, c, c, 2 * c, 0.0], [0.0] * 8, [0.0] * 5
    # Of the start, to rounding.
    for _ in range(1000):
        a = accelerate(q, v, lam, 0, 0)
        lam = [x - r * e for x, r, e in zip(lam, rho, rows(a))]
    evaluations, rail = 0, 0.0
    for _ in range(round(10 / step)):
        q = [x + y * step + z * step * step / 4 for x, y, z in zip(q, v, a)]  # (37)
        v = [y + z * step / 2 for y, z in zip(v, a)]
        stabilising = [kp * x + kv * y for x, y in zip(rows(q), rows(v))]
        if not is_warm:
            lam = [0.0] * 5
        for i in range(5000):
            a = accelerate(q, v, lam, kp, kv)
            evaluations += 1
            change = [-r * (x + y) for r, x, y in zip(rho, rows(a), stabilising)]  # (27)
            following = [x + y for x, y in zip(lam, change)]
            if (i > 0 or is_warm) and is_settled(change, following, tolerance, by_joint):
                break
            lam = following
        q = [x + z * step * step / 4 for x, z in zip(q, a)]  # (38)
        v = [y + z * step / 2 for y, z in zip(v, a)]
        rail = max(rail, abs(q[7]))
        if not rail < 0.01:
            return None, 0
    return rail, evaluations / round(10 / step)


print("| (28) tested | multipliers start from | rho of the rail | max abs(y22) at 0.01 s | at 0.001 s "
      "| evaluations per step at 0.001 s | ratio to 10 % |")
print("|---|---|---|---|---|---|---|")
for by_joint, is_warm, rail_rho in ((False, False, 0.4), (False, False, 1.0), (True, False, 0.4), (True, False, 1.0),
                                    (True, False, 1.2), (True, True, 1.2)):
    coarse, fine, rough = (run(step, tolerance, by_joint, is_warm, rail_rho)
                           for step, tolerance in ((1e-2, 1e-2), (1e-3, 1e-2), (1e-3, 1e-1)))
    words = [f"{x[0]:.1e}" if x[0] is not None else "lost" for x in (coarse, fine)]
    ratio = f"{fine[1] / rough[1]:.2f}" if rough[1] > 0 else "lost at 10 %"
    print(f"| {'joint by joint' if by_joint else 'over all joints'} | {'the step before' if is_warm else 'zero'} "
          f"| {rail_rho:g} | {words[0]} | {words[1]} | {fine[1]:.1f} | {ratio} |", flush=True)
