// Nothing but the precompiled header that tests share; see uit_precompile.
