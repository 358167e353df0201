"""Road networks: links with travel times that grow with flow."""

from hannan.networks.road_network import RoadNetwork

__all__ = ["RoadNetwork"]
