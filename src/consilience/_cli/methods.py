"""What ``consilience methods`` prints: the table of consensus methods."""

import json as json_format

from rich.console import Console
from rich.text import Text

from consilience._cli.show import table, tell
from consilience.workflow import method_table

__all__ = ["list_methods"]


def list_methods(*, json: bool) -> None:
    """Print the methods, for people or for machines."""
    if json:
        facts = [
            {
                "name": name,
                "summary": method.summary,
                "paper": method.paper,
                "needs_n_clusters": method.needs_n_clusters,
                "needs_data": method.needs_data,
                "balanced": method.balanced,
                "memory": method.memory,
            }
            for name, method in sorted(method_table().items())
        ]
        print(json_format.dumps(facts, indent=2))
        return
    console = Console()
    lines = table("method", "needs", "what it does")
    for name, method in sorted(method_table().items()):
        needs = ["-k"] * method.needs_n_clusters + ["data"] * method.needs_data
        lines.add_row(name, ", ".join(needs), Text(f"{method.summary} ({method.paper})"))
    console.print(lines)
    tell(console, "Take a method with: consilience cluster DATA --method NAME")
    tell(console, "Compare several with: consilience cluster DATA --methods NAME,NAME,...")
    tell(
        console,
        "In Python there is also MontiConsensus, which draws its own sub-samples of the data and "
        "compares numbers of clusters.",
    )
