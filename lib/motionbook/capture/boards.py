"""ChArUco boards: what they are, how to print one to scale, and how one looks through a known camera.

A ChArUco board is a chessboard with a numbered ArUco marker in every white square, so that each inner corner has a
number even when only part of the board is seen. Board axes are OpenCV's: the origin at the outer corner of the first
square, x along a row, y down the columns, z into the board, away from whoever looks at its printed side.
"""

import struct
import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from motionbook import rotations as rot
from motionbook.capture.cameras import Camera, normalised, project
from motionbook.files import write_whole

PAPERS = {"A4": (0.210, 0.297), "A3": (0.297, 0.420), "A2": (0.420, 0.594), "A1": (0.594, 0.841), "A0": (0.841, 1.189)}


@dataclass(frozen=True)
class Board:
    """A flat calibration board.

    Attributes
    ----------
    columns, rows : int
        Squares along x and along y. A board of c x r squares has (c - 1)(r - 1) inner corners.
    square : float
        Side of a square in metres, **measured on the printed board**: the scale of everything captured is tied to it.
    marker : float
        Side of an ArUco marker in metres; 0 for a plain chessboard, whose corners are found elsewhere.
    dictionary : str
        Name of the ArUco dictionary in OpenCV.
    legacy : bool
        Layout of boards made before OpenCV 4.6, which differs for even ``rows``.
    inverted : bool
        Printed white on black.
    """

    columns: int
    rows: int
    square: float
    marker: float = 0.0
    dictionary: str = "DICT_4X4_250"
    legacy: bool = False
    inverted: bool = False

    def __post_init__(self):
        if self.columns < 3 or self.rows < 3:
            raise ValueError(f"board: expected at least 3 x 3 squares, got {self.columns} x {self.rows}")
        if not 0.002 <= self.square <= 1.0:
            raise ValueError(
                f"board: square: expected the printed side in metres (0.002 to 1), got {self.square:g}; "
                f"is it in millimetres ({self.square / 1000:g} m) or still 'one square'? Measure it with a ruler"
            )
        if not 0 <= self.marker < self.square:
            raise ValueError(f"board: marker: expected 0 to below the square ({self.square:g} m), got {self.marker:g}")


def describe(board: Board) -> str:
    """The board's parameters in one line, as printed on it."""
    kind = f"ChArUco {board.dictionary}, marker {board.marker * 1000:g} mm" if board.marker else "chessboard"
    extra = (", layout before OpenCV 4.6" if board.legacy else "") + (", inverted" if board.inverted else "")
    return f"{board.columns} columns x {board.rows} rows, square {board.square * 1000:g} mm, {kind}{extra}"


def board_points(board: Board) -> np.ndarray:
    """Places (corners, 3) of the inner corners on the board, metres, row by row as OpenCV numbers them."""
    x, y = np.meshgrid(np.arange(1, board.columns), np.arange(1, board.rows))
    return np.stack([x.ravel(), y.ravel(), np.zeros(x.size)], axis=-1) * board.square


def board_edges(board: Board) -> np.ndarray:
    """Pairs (edges, 2) of neighbouring inner corners; every pair is one square apart."""
    grid = np.arange((board.columns - 1) * (board.rows - 1)).reshape(board.rows - 1, board.columns - 1)
    along = np.stack([grid[:, :-1].ravel(), grid[:, 1:].ravel()], axis=-1)
    down = np.stack([grid[:-1].ravel(), grid[1:].ravel()], axis=-1)
    return np.concatenate([along, down])


def symmetric(board: Board) -> bool:
    """Whether the board looks the same upside down, so that two cameras may number its corners differently."""
    return not board.marker and (board.columns + board.rows) % 2 == 0


def opencv():
    """The cv2 module with ArUco, or an ImportError that says how to get it."""
    try:
        import cv2
    except ImportError as error:
        raise ImportError("calibration needs OpenCV: pip install 'motionbook[capture]'") from error
    if not hasattr(cv2.aruco, "CharucoDetector"):
        raise ImportError(f"calibration needs OpenCV 4.8 or newer with aruco.CharucoDetector, found {cv2.__version__}")
    return cv2


def opencv_board(board: Board):
    """OpenCV's CharucoBoard for a board with markers.

    Raises
    ------
    ValueError
        When the board has no markers, the dictionary is unknown or too small.
    """
    cv2 = opencv()
    if not board.marker:
        raise ValueError("board: expected markers (marker > 0); a plain chessboard cannot be told apart upside down")
    number = getattr(cv2.aruco, board.dictionary, None)
    if number is None:
        names = ", ".join(sorted(n for n in dir(cv2.aruco) if n.startswith("DICT_")))
        raise ValueError(f"board: dictionary: expected one of {names}, got {board.dictionary!r}")
    dictionary = cv2.aruco.getPredefinedDictionary(number)
    needed, there = board.columns * board.rows // 2, len(dictionary.bytesList)
    if needed > there:
        raise ValueError(f"board: {needed} markers needed, {board.dictionary} has {there}; take a larger dictionary")
    made = cv2.aruco.CharucoBoard((board.columns, board.rows), board.square, board.marker, dictionary)
    made.setLegacyPattern(board.legacy)
    return made


def board_image(board: Board, pixels_per_square: int = 100) -> np.ndarray:
    """Grey picture (rows x pixels, columns x pixels) uint8 of the board alone, without a margin."""
    dots = pixels_per_square
    cells = np.zeros((board.rows, board.columns), np.uint8)
    if not board.marker:
        cells[np.add.outer(np.arange(board.rows), np.arange(board.columns)) % 2 == 1] = 255
        picture = np.kron(cells, np.ones((dots, dots), np.uint8))
    else:
        # drawn from the markers' places: generateImage of OpenCV 5.0 fails at some sizes
        made = opencv_board(board)
        corner = np.stack([np.reshape(square, (4, 3))[0, :2] for square in made.getObjPoints()])
        for column, row in (corner / board.square).astype(int):
            cells[row, column] = 255
        picture = np.kron(cells, np.ones((dots, dots), np.uint8))
        side = max(1, round(board.marker / board.square * dots))
        for (x, y), number in zip(
            np.round(corner / board.square * dots).astype(int), np.ravel(made.getIds()), strict=True
        ):
            picture[y : y + side, x : x + side] = made.getDictionary().generateImageMarker(int(number), side)
    return 255 - picture if board.inverted else picture


def square_in_picture(board: Board, focal: float, distance: float) -> float:
    """Pixels that a square's side covers when the board faces a camera of that focal length (pixels) at a distance (m).

    Markers of 4 x 4 bits have 6 modules across; below about 2 pixels a module, 15 to 20 pixels a square, they are lost.
    An A4 board 2 m away is such a case.
    """
    return focal * board.square / distance


def print_board(board: Board, path: str | Path, *, paper: str = "A4", dpi: int = 300) -> Path:
    """A page with the board to scale, a 100 mm bar to check the print against, and the board's parameters.

    Parameters
    ----------
    path : path
        ``.png`` (its resolution is stored in the file) or ``.pdf`` (its page is the paper).
    paper : str
        A0 to A4; lies on its side when the board is wider than high.

    Raises
    ------
    ValueError
        When the board with its margin does not fit on the paper, with the size it needs.
    """
    cv2 = opencv()
    path = Path(path)
    if path.suffix not in (".png", ".pdf"):
        raise ValueError(f"path: expected a name that ends in .png or .pdf, got {path.name}")
    if paper not in PAPERS:
        raise ValueError(f"paper: expected one of {', '.join(PAPERS)}, got {paper!r}")
    wide, high = board.columns * board.square, board.rows * board.square
    page = PAPERS[paper][::-1] if wide > high else PAPERS[paper]
    margin, foot = 0.008, 0.022
    if wide + 2 * margin > page[0] or high + margin + foot > page[1]:
        raise ValueError(
            f"paper: the board is {wide * 1000:.0f} x {high * 1000:.0f} mm and needs "
            f"{(wide + 2 * margin) * 1000:.0f} x {(high + margin + foot) * 1000:.0f} mm with its margin; {paper} has "
            f"{page[0] * 1000:.0f} x {page[1] * 1000:.0f}. Take larger paper or smaller squares"
        )
    per_metre = dpi / 0.0254
    dots = [round(side * per_metre) for side in page]
    sheet = np.full((dots[1], dots[0]), 255, np.uint8)
    size = (round(wide * per_metre), round(high * per_metre))
    # nearest keeps every edge hard; 40 dots a module and more make its rounding smaller than a printer's
    picture = cv2.resize(
        board_image(board, max(60, round(board.square * per_metre))), size, interpolation=cv2.INTER_NEAREST
    )
    left, top = (dots[0] - size[0]) // 2, round(margin * per_metre)
    sheet[top : top + size[1], left : left + size[0]] = picture
    bar, line = round(0.100 * per_metre), max(1, round(0.0004 * per_metre))
    y, x = dots[1] - round(0.006 * per_metre), round(margin * per_metre)
    sheet[y - line : y, x : x + bar] = 0
    for tick in range(11):
        at = x + round(tick * bar / 10)
        sheet[y - round(0.003 * per_metre) : y, max(at - line, x) : max(at, x + line)] = 0
    scale = per_metre * 0.0025 / 22
    for row, text in enumerate(
        (describe(board), "this bar is 100 mm: measure it, and measure a square before you use the board")
    ):
        place = (x, y - round((0.0095 - 0.0045 * row) * per_metre))
        cv2.putText(sheet, text, place, cv2.FONT_HERSHEY_SIMPLEX, scale, 0, max(1, round(scale * 1.5)), cv2.LINE_AA)
    return write_whole(path, _png(sheet, per_metre) if path.suffix == ".png" else _pdf(sheet, page))


def _png(sheet, per_metre) -> bytes:
    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    rows = np.concatenate([np.zeros((len(sheet), 1), np.uint8), sheet], axis=1).tobytes()
    head = struct.pack(">IIBBBBB", sheet.shape[1], sheet.shape[0], 8, 0, 0, 0, 0)
    dots = struct.pack(">IIB", round(per_metre), round(per_metre), 1)
    parts = [(b"IHDR", head), (b"pHYs", dots), (b"IDAT", zlib.compress(rows, 9)), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunk(kind, body) for kind, body in parts)


def _pdf(sheet, page) -> bytes:
    width, height = (side / 0.0254 * 72 for side in page)
    data = zlib.compress(sheet.tobytes(), 9)
    drawing = f"{width:.4f} 0 0 {height:.4f} 0 0 cm /Im Do".encode()
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {width:.4f} {height:.4f}] /Contents 4 0 R "
        "/Resources << /XObject << /Im 5 0 R >> >> >>".encode(),
        b"<< /Length %d >>\nstream\n%b\nendstream" % (len(drawing), drawing),
        b"<< /Type /XObject /Subtype /Image /Width %d /Height %d /ColorSpace /DeviceGray /BitsPerComponent 8 "
        b"/Filter /FlateDecode /Length %d >>\nstream\n%b\nendstream" % (*sheet.shape[::-1], len(data), data),
    ]
    out, places = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, start=1):
        places.append(len(out))
        out += b"%d 0 obj\n%b\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    count = len(objects) + 1
    end = b"xref\n0 %d\n0000000000 65535 f \n%btrailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n"
    return out + end % (count, table, count, len(out))


def render_board(
    board: Board, camera: Camera, rotation, translation, *, background: int = 110, noise: float = 0.0, seed: int = 0
) -> np.ndarray:
    """Picture (height, width) uint8 of a board in the world, seen through a camera and its lens.

    Every pixel is the mean of 3 x 3 rays put onto the board's plane; the board has a blank margin of half a square.

    Parameters
    ----------
    rotation, translation : (4,), (3,)
        Board to world: quaternion wxyz and the origin's place, metres.
    noise : float
        Standard deviation of the sensor's noise, grey levels.
    """
    cv2 = opencv()
    width, height = camera.size
    picture = np.full((height, width), background, np.float32)
    sides = np.array([board.columns, board.rows]) * board.square
    edge = board.square / 2
    outline = np.array([[x, y, 0.0] for x in (-edge, sides[0] + edge) for y in (-edge, sides[1] + edge)])
    seen = project(camera, rot.rotate(rotation, outline) + translation)
    turn = rot.to_matrix(rot.multiply(camera.rotation, rotation))
    away = rot.rotate(camera.rotation, translation) + camera.translation
    facing = turn[:, 2] @ away > 0  # z goes into the board: away from a viewer of the printed side
    if facing and np.isfinite(seen).all():
        low = np.clip(np.floor(seen.min(axis=0)).astype(int) - 4, 0, [width, height])
        high = np.clip(np.ceil(seen.max(axis=0)).astype(int) + 5, 0, [width, height])
        if (high > low).all():
            part = _rays_on_board(cv2, board, camera, np.stack([turn[:, 0], turn[:, 1], away], axis=1), low, high, edge)
            picture[low[1] : high[1], low[0] : high[0]] = np.where(np.isnan(part), background, part)
    if noise:
        picture += np.random.default_rng(seed).normal(0, noise, picture.shape)
    return np.clip(np.round(picture), 0, 255).astype(np.uint8)


def _rays_on_board(cv2, board, camera, plane_to_view, low, high, edge):
    u, v = np.meshgrid(np.arange(low[0] - 1, high[0] + 1), np.arange(low[1] - 1, high[1] + 1))
    flat = normalised(camera, np.stack([u, v], axis=-1))
    # the lens is smooth: between pixel centres, a ninth of the work, its slope is enough
    by_v, by_u = np.gradient(flat, axis=(0, 1))
    steps = (np.arange(3) - 1) / 3
    flat = (
        flat[:, None, :, None]
        + by_u[:, None, :, None] * steps[:, None]
        + (by_v[:, None, :, None] * steps[:, None, None, None])
    )
    flat = flat[1:-1, :, 1:-1].reshape(3 * (high[1] - low[1]), 3 * (high[0] - low[0]), 2)
    ray = np.concatenate([flat, np.ones((*flat.shape[:-1], 1))], axis=-1) @ np.linalg.inv(plane_to_view).T
    place = ray[..., :2] / ray[..., 2:]
    # a texture about as fine as the rays: coarser blurs, much finer flickers
    dots = int(np.clip(3 * camera.intrinsics[0, 0] * board.square / np.linalg.norm(plane_to_view[:, 2]), 24, 400))
    margin = dots // 2
    texture = np.pad(board_image(board, dots), margin, constant_values=0 if board.inverted else 255)
    on = ((place + edge) * (dots / board.square) - 0.5).astype(np.float32)
    on += margin - edge * dots / board.square
    level = cv2.remap(
        texture.astype(np.float32), on[..., 0], on[..., 1], cv2.INTER_LINEAR, borderMode=cv2.BORDER_CONSTANT,
        borderValue=float("nan"),
    )  # fmt: skip
    # a pixel half on the board takes the mean of the rays that hit it
    rays = level.reshape(high[1] - low[1], 3, high[0] - low[0], 3)
    hit = np.isfinite(rays)
    total = np.where(hit, rays, 0).sum(axis=(1, 3))
    count = hit.sum(axis=(1, 3))
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)
