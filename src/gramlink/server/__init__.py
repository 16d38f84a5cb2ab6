"""The linkage unit as a server: one process and one folder.

    listener, connections      what is connected, within limits
    dependencies, api, site    what can be asked for over HTTP, and by whom
    bodies, uploads, relay     what comes in and goes out, in bounded pieces
    exchanges, views, auth     what may happen, each change in one transaction
    runner, worker             what takes long, in processes of their own
    store, folder, unit        tables and files

FastAPI and uvicorn come with `pip install gramlink[server]`, and are imported by those
modules only that need them.
"""
