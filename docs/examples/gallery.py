"""The pictures of the gallery, drawn by the code that stands above them on its page.

    python docs/examples/gallery.py [folder]

Runs the Python of docs/gallery.md from top to bottom; where a picture follows a block, the
Axes that the block left in ``ax`` is saved under the picture's name.
"""

import re
import sys
from pathlib import Path

import matplotlib.pyplot as plt
from PIL import Image

DOCS = Path(__file__).parent.parent
BLOCK = re.compile(r"```python\n(.*?)```(?:\s*!\[[^]]*\]\(images/gallery/([a-z_]+\.png)\))?", re.S)


def main(folder):
    """Run every block of the page in turn, and draw its picture into the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    names = {}
    for code, picture in BLOCK.findall((DOCS / "gallery.md").read_text(encoding="utf-8")):
        exec(compile(code, picture or "gallery.md", "exec"), names)
        if picture:
            save(names.pop("ax").figure, folder / picture)
            print(f"drawn to {picture}")


def save(figure, path):
    """A small file: 256 colours, and no version of matplotlib that would change it."""
    figure.savefig(path, dpi=100, metadata={"Software": None})
    plt.close(figure)
    with Image.open(path) as picture:
        few_colours = picture.convert("RGB").quantize(256, dither=Image.Dither.NONE)
    few_colours.save(path, optimize=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else DOCS / "images" / "gallery")
