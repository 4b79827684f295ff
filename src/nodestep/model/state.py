"""The base that users derive their state from."""

from __future__ import annotations

from pydantic import BaseModel


class BaseState(BaseModel, defer_build=True):
    """A graph's state as a pydantic model: declare fields, give each a reducer in `Annotated` where updates should merge.

    Any other pydantic model, a TypedDict or `dict` serves as well. Private attributes are the view's own: each task gets
    fresh defaults, and they are never stored.
    """


# Only this class has nothing to validate, so its own validator can wait; those that derive from it are built at once.
del BaseState.model_config["defer_build"]
