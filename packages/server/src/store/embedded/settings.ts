import { PGlite } from "@electric-sql/pglite"

// The default of 128 MB is more than the memory of the rest of the service.
const smallBuffers = ["-c", "shared_buffers=16MB"]

export const initDbStartParams = ["--no-sync", "--set", "max_connections=10"]

export const memoryStartParams = [...PGlite.defaultStartParams, ...smallBuffers]

export const diskStartParams = [
  // -F turns fsync off. Of the sync methods only fsync reaches the file system in PGlite's build.
  ...PGlite.defaultStartParams.filter((param) => param !== "-F"),
  ...smallBuffers,
  "-c",
  "wal_sync_method=fsync"
]
