"""Whether objects are as netuit.schema says."""


def members_of(value, table, prefix=""):
    """Names of all members, `outer.inner` for one within another that the table tells the members of."""
    found = set()
    for name, inner in value.items():
        full = prefix + name
        found.add(full)
        is_open = not any(column.name.startswith(full + ".") for column in table.columns)
        for each in [] if is_open else inner if isinstance(inner, list) else [inner]:
            found |= members_of(each, table, full + ".")
    return found


def names_in(table):
    return {column.name for column in table.columns}
