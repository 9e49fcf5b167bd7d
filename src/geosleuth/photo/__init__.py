"""Photos: opened safely, stripped of everything but pixels, shown in views that models can afford.

What a file says about itself (`Claims`) and what it shows (`Photo`) part ways in `open_photo` and never meet again.
"""

from .album import Album
from .metadata import Claims, PanoramaClaim
from .opening import OpenedPhoto, check_case_pixels, open_photo, open_photos
from .panorama import PanoramaView, cut_views, looks_equirectangular
from .photo import Kind, Photo, PhotoLimits
from .sidecar import SidecarClaim
from .views import MIN_REDUCTION_FOR_CROPS, BoxScale, View, crop, encode, first_view, full_box, scale_box, to_pixels

__all__ = [
    "MIN_REDUCTION_FOR_CROPS",
    "Album",
    "BoxScale",
    "Claims",
    "Kind",
    "OpenedPhoto",
    "PanoramaClaim",
    "PanoramaView",
    "Photo",
    "PhotoLimits",
    "SidecarClaim",
    "View",
    "check_case_pixels",
    "crop",
    "cut_views",
    "encode",
    "first_view",
    "full_box",
    "looks_equirectangular",
    "open_photo",
    "open_photos",
    "scale_box",
    "to_pixels",
]
