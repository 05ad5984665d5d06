"""The unitxt metrics. With any of them, unitxt knows the catalog, whose ids their fields take."""

from evenhand.unitxt.catalogs import register as _register

_register()
