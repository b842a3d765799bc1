"""The study page: plan, films and page of a perceptual study; a receiver for its answers; merging them to one table.

Every text of the page is in ``assets/strings.json`` in English, Spanish and Basque. The English questions are the
studies' own; the Spanish and Basque texts have yet to be checked by native speakers (``UNCHECKED``).
"""

from motionbook.perception.study.balance import balance, balance_text, read_plan
from motionbook.perception.study.building import Study, build_study, make_plan
from motionbook.perception.study.design import pair_plan, plan_hash, rating_plan
from motionbook.perception.study.merging import Export, Merged, merge_exports, read_export
from motionbook.perception.study.receiver import make_server
from motionbook.perception.study.site import PageSettings
from motionbook.perception.study.videos import Look

# languages whose texts no native speaker has checked yet
UNCHECKED = {"es": "Spanish", "eu": "Basque"}

__all__ = [
    "UNCHECKED",
    "Export",
    "Look",
    "Merged",
    "PageSettings",
    "Study",
    "balance",
    "balance_text",
    "build_study",
    "make_plan",
    "make_server",
    "merge_exports",
    "pair_plan",
    "plan_hash",
    "rating_plan",
    "read_export",
    "read_plan",
]
