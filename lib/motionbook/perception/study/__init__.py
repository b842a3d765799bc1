"""The study page: plan, films and page of a perceptual study; a receiver for its answers; merging them to one table."""

from motionbook.perception.study.balance import balance, balance_text, read_plan
from motionbook.perception.study.building import Study, build_study, make_plan
from motionbook.perception.study.design import pair_plan, plan_hash, rating_plan
from motionbook.perception.study.merging import Merged, merge_exports, read_export
from motionbook.perception.study.receiver import make_server
from motionbook.perception.study.site import PageSettings
from motionbook.perception.study.videos import Look

__all__ = [
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
