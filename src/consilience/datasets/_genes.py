"""Tables the other way round: genes in rows are noticed and said, and can be turned."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience._words import listed
from consilience.datasets._recipe import Column, Recipe

__all__ = ["features_beside", "looks_like_genes", "plain_recipe", "said_of_genes", "turned"]

# What columns of identifiers are called in tables with a gene, a protein or a probe a row.
_NAMES = re.compile(
    r"(hgnc[_ .-]?)?(gene|genes|symbol|probe|probeset|transcript|protein|feature|ensembl|entrez|"
    r"otu|cpg|peptide|metabolite|uniprot)s?([_ .-]?(id|ids|name|names|symbol|symbols|set))?",
    re.IGNORECASE,
)
# Names that public data bases give: Ensembl, RefSeq, Affymetrix and Illumina probes.
_VALUES = re.compile(
    r"ENS[A-Z]{0,4}[GTP]\d{11}(\.\d+)?|[NX][MRP]_\d{6,9}(\.\d+)?|\d+(_[a-z])?_at|cg\d{8}|ILMN_\d+"
)
_LOOKED_AT = 200
_FEATURES = ("features.tsv", "features.tsv.gz", "genes.tsv", "genes.tsv.gz")


def looks_like_genes(id_column: str | None, ids: NDArray[Any] | None) -> bool:
    """Whether identifiers are those of genes and the like, by their name or by most of them.

    >>> looks_like_genes("gene_name", None), looks_like_genes("patient", np.array(["p1"]))
    (True, False)
    """
    if id_column is not None and _NAMES.fullmatch(id_column.strip()):
        return True
    if ids is None:
        return False
    some = [str(one) for one in ids[:_LOOKED_AT].tolist()]
    return 2 * sum(_VALUES.fullmatch(one) is not None for one in some) > len(some)


def features_beside(source: Path) -> str | None:
    """The file of features that lies beside a matrix, as sequencing machines write it."""
    return next((name for name in _FEATURES if source.with_name(name).is_file()), None)


def turned(
    X: Any, ids: NDArray[Any] | None, columns: Sequence[str]
) -> tuple[Any, NDArray[Any], list[str]]:
    """A table whose columns are the objects: its numbers, identifiers and names of columns."""
    names = [f"r{i}" for i in range(X.shape[0])] if ids is None else [str(i) for i in ids.tolist()]
    values = np.ascontiguousarray(X.T) if isinstance(X, np.ndarray) else X.T.tocsr()
    return values, np.array(columns, np.str_), names


def plain_recipe(columns: Sequence[str], keep_gaps: bool) -> Recipe:
    """The recipe of columns that are numbers as they come."""
    return Recipe(tuple(map(Column, columns)), transposed=True, keep_gaps=keep_gaps)


def said_of_genes(name: str, what: str, n_objects: int, columns: Sequence[str]) -> str:
    """That rows look like genes, and what to do if the columns are meant."""
    return (
        f"The rows of {name!r} look like {what}: each of the {n_objects} is clustered as an "
        f"object. To cluster the {len(columns)} columns ({listed(map(repr, columns), most=3)}) "
        "instead, say transpose=True (--transpose)."
    )
