"""Road networks: links with travel times that grow with flow, and readers for them."""

from hannan.networks.edge_table import read_edges
from hannan.networks.road_network import RoadNetwork
from hannan.networks.tntp import read_tntp

__all__ = ["RoadNetwork", "read_edges", "read_tntp"]
