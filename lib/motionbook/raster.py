"""The two inner loops of ``drawing``: rounded cones into a depth buffer, and light and shadow on what is seen.

Compiled with numba on first use and imported by ``drawing`` inside its functions, so that importing the library stays
fast. Pixel coordinates: x to the right, y down (rows), z towards the viewer, all in pixels.
"""

import numpy as np
from numba import njit


@njit(cache=True)
def rounded_cones(starts, ends, radii, owners, height, width):
    """Depth, normal and owner of the nearest surface at every pixel, seen along z without perspective.

    A rounded cone is the union of spheres whose centre runs straight from start to end while the radius runs linearly.
    At a pixel, the height of the sphere at s in [0, 1] is z(s) = az + s dz + sqrt(q(s)) with a quadratic q; the
    largest z is at the root of a quadratic or at an end.

    Parameters
    ----------
    starts, ends : (cones, 3), radii : (cones, 2), owners : (cones,) int

    Returns
    -------
    depth (height, width) with -inf where nothing is, normals (height, width, 3), owner (height, width) with -1
    """
    depth = np.full((height, width), -np.inf, np.float32)
    normals = np.zeros((height, width, 3), np.float32)
    owner = np.full((height, width), -1, np.int32)
    for cone in range(len(starts)):
        ax, ay, az = starts[cone]
        dx, dy, dz = ends[cone] - starts[cone]
        ra, rb = radii[cone]
        dr = rb - ra
        left, right = min(ax - ra, ax + dx - rb), max(ax + ra, ax + dx + rb)
        top, bottom = min(ay - ra, ay + dy - rb), max(ay + ra, ay + dy + rb)
        a = dr * dr - dx * dx - dy * dy
        k = dz * dz - a
        for row in range(max(0, int(np.floor(top))), min(height, int(np.ceil(bottom)) + 1)):
            for column in range(max(0, int(np.floor(left))), min(width, int(np.ceil(right)) + 1)):
                px, py = column + 0.5 - ax, row + 0.5 - ay
                b = ra * dr + px * dx + py * dy
                c = ra * ra - px * px - py * py
                best, best_s, best_root = -np.inf, 0.0, 0.0
                for candidate in range(4):
                    s = float(candidate)
                    if candidate > 1:
                        if abs(a) < 1e-9 or k < 1e-9:
                            continue
                        under = b * b - a * (dz * dz * c - b * b) / k
                        if under < 0:
                            continue
                        s = (-b + (2 * candidate - 5) * np.sqrt(under)) / a
                        if not 0.0 < s < 1.0:
                            continue
                    q = c + 2 * b * s + a * s * s
                    if q < 0:
                        continue
                    root = np.sqrt(q)
                    z = az + s * dz + root
                    if z > best:
                        best, best_s, best_root = z, s, root
                if best > depth[row, column]:
                    radius = ra + best_s * dr
                    depth[row, column] = best
                    normals[row, column, 0] = (px - best_s * dx) / radius
                    normals[row, column, 1] = (py - best_s * dy) / radius
                    normals[row, column, 2] = best_root / radius
                    owner[row, column] = cone
    for row in range(height):
        for column in range(width):
            if owner[row, column] >= 0:
                owner[row, column] = owners[owner[row, column]]
    return depth, normals, owner


@njit(cache=True)
def _sample(image, x, y):
    """Bilinear value of an image at pixel (x, y); its border is repeated."""
    height, width = image.shape
    x, y = min(max(x - 0.5, 0.0), width - 1.001), min(max(y - 0.5, 0.0), height - 1.001)
    i, j = int(x), int(y)
    u, v = x - i, y - j
    top = image[j, i] * (1 - u) + image[j, i + 1] * u
    return top * (1 - v) + (image[j + 1, i] * (1 - u) + image[j + 1, i + 1] * u) * v


@njit(cache=True)
def _lit(depth, x, y, z, bias):
    """Share of nine neighbours of a shadow map that lie below z: 1 in the light, 0 in the shade."""
    height, width = depth.shape
    seen = 0.0
    for j in range(-1, 2):
        for i in range(-1, 2):
            column, row = int(x) + 2 * i, int(y) + 2 * j
            if 0 <= row < height and 0 <= column < width and depth[row, column] > z + bias:
                continue
            seen += 1.0
    return seen / 9.0


@njit(cache=True)
def _row(matrix, i, x, y, z):
    """One component of matrix times vector, without the arrays that ``@`` makes for every pixel."""
    return matrix[i, 0] * x + matrix[i, 1] * y + matrix[i, 2] * z


@njit(cache=True)
def shade(depth, normals, owner, colours, to_world, origin, light, to_light, light_origin, light_depth, shadow, above,
          to_above, floor, background, fade_radius, fade_centre, smooth, checks):  # fmt: skip
    """Linear RGB, averaged over ``smooth`` x ``smooth`` samples: figures under a key light, over a floor with a grid.

    Parameters
    ----------
    to_world : (3, 3)
        Columns take pixel x, y, z to metres in the world; ``origin`` (3,) is the world place of pixel (0, 0, 0).
    light : (3,) unit vector towards the key light
    to_light : (3, 3) and ``light_origin`` (3,), take world to the pixels of ``light_depth``
    shadow, above : blurred coverage seen from the light and from straight above
    to_above : (4,) scale and shift of x and of z into the pixels of ``above``
    floor, background : (3,) colours; the floor fades into the background over ``fade_radius`` metres around
        ``fade_centre`` (x, z)
    checks : side in metres of the squares of a checkered floor; 0 for lines at every metre instead
    """
    height, width = depth.shape
    image = np.zeros((height // smooth, width // smooth, 3))
    metre = np.sqrt(to_world[0, 0] ** 2 + to_world[1, 0] ** 2 + to_world[2, 0] ** 2)
    vx, vy, vz = to_world[0, 2] / metre, to_world[1, 2] / metre, to_world[2, 2] / metre
    share = 1.0 / (smooth * smooth)
    for row in range(height):
        for column in range(width):
            pixel = image[row // smooth, column // smooth]
            person = owner[row, column]
            z = depth[row, column] if person >= 0 else 0.0
            px = origin[0] + _row(to_world, 0, column + 0.5, row + 0.5, z)
            py = origin[1] + _row(to_world, 1, column + 0.5, row + 0.5, z)
            pz = origin[2] + _row(to_world, 2, column + 0.5, row + 0.5, z)
            if person >= 0:
                a, b, c = normals[row, column]
                nx = _row(to_world, 0, a, b, c) / metre
                ny = _row(to_world, 1, a, b, c) / metre
                nz = _row(to_world, 2, a, b, c) / metre
                lx = light_origin[0] + _row(to_light, 0, px, py, pz)
                ly = light_origin[1] + _row(to_light, 1, px, py, pz)
                lz = light_origin[2] + _row(to_light, 2, px, py, pz)
                diffuse = max(0.0, nx * light[0] + ny * light[1] + nz * light[2])
                if diffuse > 0.0:
                    diffuse *= _lit(light_depth, lx, ly, lz, 2.5)
                facing = max(0.0, nx * vx + ny * vy + nz * vz)
                bright = 0.30 + 0.26 * ny + 0.12 * facing + 0.78 * diffuse
                rim = 0.10 * (1.0 - facing) ** 3
                for i in range(3):
                    pixel[i] += share * min(1.0, max(0.0, colours[person, i] * bright + rim))
                continue
            shown, ground = 0.0, 0.0
            if vy >= 0.02:
                x, z = px - vx * py / vy, pz - vz * py / vy
                away = np.sqrt((x - fade_centre[0]) ** 2 + (z - fade_centre[1]) ** 2) / fade_radius
                if away < 1.0:
                    shown = (1.0 - away * away) ** 2
                    if checks > 0.0:
                        line = (np.floor(x / checks) + np.floor(z / checks)) % 2.0
                    else:
                        line = max(0.0, 1.0 - abs(x - np.round(x)) / (1.2 * metre))
                        line += max(0.0, 1.0 - abs(z - np.round(z)) * vy / (1.2 * metre))
                    lx = light_origin[0] + _row(to_light, 0, x, 0.0, z)
                    ly = light_origin[1] + _row(to_light, 1, x, 0.0, z)
                    dark = 0.42 * _sample(shadow, lx, ly)
                    dark += 0.40 * _sample(above, to_above[0] * x + to_above[1], to_above[2] * z + to_above[3])
                    ground = (1.0 - 0.16 * min(line, 1.0)) * (1.0 - min(dark, 0.75))
            for i in range(3):
                pixel[i] += share * (background[i] + shown * (floor[i] * ground - background[i]))
    return image
