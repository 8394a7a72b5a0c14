"""Where Hydra looks for the options of a group: our own yaml files, then those of plug-ins."""

from hydra.core.config_search_path import ConfigSearchPath
from hydra.core.plugins import Plugins
from hydra.plugins.search_path_plugin import SearchPathPlugin

from tcdp_sim.core import registry


class PlugInConfigs(SearchPathPlugin):
    """Hydra's search path goes on, after the package's own yaml files, with those of plug-ins."""

    def manipulate_search_path(self, search_path: ConfigSearchPath) -> None:
        """Add the folder `conf` of every plug-in."""
        for folder, distribution in registry.config_folders().items():
            search_path.append(provider=distribution, path=f"file://{folder}")


def with_plug_ins() -> None:
    """From now on Hydra finds the yaml files of plug-ins as well."""
    Plugins.instance().register(PlugInConfigs)
