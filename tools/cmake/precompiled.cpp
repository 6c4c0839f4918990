// Nothing but a precompiled header that others share; see uit_precompile.
