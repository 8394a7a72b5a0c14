"""What Hydra is told before it composes: where it finds the options of a group, and that any axis may be swept."""

from hydra.core.config_search_path import ConfigSearchPath
from hydra.core.config_store import ConfigStore
from hydra.core.plugins import Plugins
from hydra.plugins.search_path_plugin import SearchPathPlugin
from omegaconf import OmegaConf

from tcdp_sim.core import registry


class PlugInConfigs(SearchPathPlugin):
    """Hydra's search path goes on, after the package's own yaml files, with those of plug-ins."""

    def manipulate_search_path(self, search_path: ConfigSearchPath) -> None:
        """Add the folder `conf` of every plug-in."""
        for folder, distribution in registry.config_folders().items():
            search_path.append(provider=distribution, path=f"file://{folder}")


def with_plug_ins() -> None:
    """Let Hydra find the yaml files of plug-ins, and take any key of `sweep`: which axes there are, mechanisms say.

    `open_sweep`, which config.yaml begins with, is a `sweep` without Hydra's lock against new keys. A yaml file cannot
    say so.
    """
    Plugins.instance().register(PlugInConfigs)
    unlocked = OmegaConf.create({}, flags={"struct": False})
    ConfigStore.instance().store("open_sweep", OmegaConf.create({"sweep": unlocked}))
