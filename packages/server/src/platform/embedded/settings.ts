import { PGlite } from "@electric-sql/pglite"

// The memory is the service's own: the default of 128 MB is more than the rest of it takes.
const smallBuffers = ["-c", "shared_buffers=16MB"]

export const initDbStartParams = ["--no-sync", "--set", "max_connections=10"]

export const memoryStartParams = [...PGlite.defaultStartParams, ...smallBuffers]

export const diskStartParams = [
  // -F turns fsync off. Of the methods only fsync reaches the file system in PGlite's build.
  ...PGlite.defaultStartParams.filter((param) => param !== "-F"),
  ...smallBuffers,
  "-c",
  "wal_sync_method=fsync"
]
