"""Reading the fields of a YAML file, with errors that name the file, the field, what was expected and the way out."""

import re
from pathlib import Path

_REQUIRED = object()


def read_yaml(path: Path) -> dict:
    """The mapping in a YAML file; a key that stands twice is an error, where PyYAML would keep the last."""
    import yaml

    class UniqueKeys(yaml.SafeLoader):
        """The safe loader, refusing repeated keys."""

    def mapping(loader, node):
        seen = set()
        for key_node, _ in node.value:
            key = loader.construct_object(key_node, deep=True)
            if key in seen:
                mark = key_node.start_mark
                raise yaml.constructor.ConstructorError(None, None, f"{key!r} stands more than once", mark)
            seen.add(key)
        return yaml.SafeLoader.construct_mapping(loader, node, deep=True)

    UniqueKeys.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, mapping)
    try:
        content = yaml.load(path.read_text(encoding="utf-8"), Loader=UniqueKeys)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f", line {mark.line + 1}" if mark else ""
        problem = getattr(error, "problem", None) or error
        raise ValueError(f"{path.name}{line}: not valid YAML: {problem}") from None
    if not isinstance(content, dict):
        raise ValueError(f"{path.name}: expected fields such as 'id: {path.stem}', got {type(content).__name__}")
    return content


class Fields:
    """The fields of one mapping, asked for by name and type; every refusal names file and field."""

    def __init__(self, content: dict, file: str, place: str):
        self.content, self.file, self.place, self.known = content, file, place, set()

    def fail(self, name: str, expected: str, found, way_out: str):
        """Raise the ValueError all checks share."""
        raise ValueError(f"{self.file}: {self.place}{name}: expected {expected}, got {found}; {way_out}")

    def need(self, name: str) -> None:
        """Refuse a mapping without this field."""
        if self.content.get(name) in (None, "", [], {}):
            self.fail(name, "a value", "nothing", "add the field")

    def _get(self, name: str, kind: type, words: str, default):
        self.known.add(name)
        value = self.content.get(name)
        if value is None:
            if default is _REQUIRED:
                self.need(name)
            return default
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            self.fail(name, words, f"{value!r} ({type(value).__name__})", "correct it, with quotation marks for text")
        return value

    def text(self, name: str, *, default=..., pattern: str = "", hint: str = ""):
        """A text; with a pattern, one that matches it whole."""
        value = self._get(name, str, "text", _REQUIRED if default is ... else default)
        if isinstance(value, str):
            value = value.strip()
            if default is ... and not value:
                self.need(name)
            if value and pattern and not re.fullmatch(pattern, value):
                self.fail(name, hint, repr(value), "correct it")
        return value

    def number(self, name: str) -> int | None:
        """A count of bytes, None when left out."""
        value = self._get(name, int, "a whole number of bytes", None)
        if value is not None and value <= 0:
            self.fail(name, "a positive number of bytes", value, "leave it out when it is not known")
        return value

    def flag(self, name: str) -> bool:
        """Yes or no, no when left out."""
        return self._get(name, bool, "true or false", False)

    def choice(self, name: str, among: tuple[str, ...], default=...) -> str:
        """One word of several."""
        value = self.text(name, default=default)
        if value not in among:
            self.fail(name, f"one of {', '.join(among)}", repr(value), "choose one")
        return value

    def texts(self, name: str) -> tuple[str, ...]:
        """A list of texts."""
        values = self._get(name, list, "a list", [])
        for value in values:
            if not isinstance(value, str):
                self.fail(name, "a list of texts", repr(value), "put quotation marks around it")
        return tuple(values)

    def choices(self, name: str, among: tuple[str, ...]) -> tuple[str, ...]:
        """Several of several words, at least one."""
        self.need(name)
        values = self.texts(name)
        for value in values:
            if value not in among:
                self.fail(name, f"names out of {', '.join(among)}", repr(value), "correct it")
        return values

    def mapping(self, name: str) -> dict:
        """A mapping with text keys, empty when left out."""
        value = self._get(name, dict, "a mapping", {})
        for key in value:
            if not isinstance(key, str):
                self.fail(name, "text keys", repr(key), "put quotation marks around it")
        return value

    def counts(self, name: str) -> dict[str, int]:
        """Glob patterns with whole numbers."""
        value = self.mapping(name)
        for pattern, count in value.items():
            if not isinstance(count, int) or isinstance(count, bool) or count < 0:
                self.fail(f"{name}.{pattern}", "a whole number", repr(count), "write it without separators")
        return value

    def many(self, name: str, *, required: bool = False, closed: bool = False) -> list["Fields"]:
        """A list of mappings; ``closed`` ones hold only ``file`` and ``problem``."""
        if required:
            self.need(name)
        parts = []
        for number, value in enumerate(self._get(name, list, "a list", [])):
            if not isinstance(value, dict):
                self.fail(f"{name}[{number}]", "a mapping of fields", repr(value), "write 'field: value' lines")
            part = Fields(value, self.file, f"{self.place}{name}[{number}].")
            if closed:
                part.refuse_others(("file", "problem"))
            parts.append(part)
        return parts

    def refuse_others(self, known: tuple[str, ...] = ()) -> None:
        """Refuse fields nobody asked for: a misspelt one would be silently ignored."""
        allowed = known or tuple(sorted(self.known))
        for name in self.content:
            if name not in allowed:
                self.fail(str(name), f"only the fields {', '.join(allowed)}", "an unknown field", "correct its name")
