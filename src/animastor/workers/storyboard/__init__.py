"""Storyboard pictures: composed, lit, lettered scenes, painted on the CPU from a picture's structure.

`picture` is the backend; `preview` makes the small version of a picture; `contact_sheet` puts many on one page.
"""

from animastor.workers.storyboard.backend import picture, preview
from animastor.workers.storyboard.sheet import contact_sheet

__all__ = ["contact_sheet", "picture", "preview"]
