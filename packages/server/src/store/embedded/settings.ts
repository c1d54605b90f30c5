import { PGlite } from "@electric-sql/pglite"

// PostgreSQL's default of 128 MB is more than the memory of the rest of the service.
const smallBuffers = ["-c", "shared_buffers=16MB"]

export const initDbStartParams = ["--no-sync", "--set", "max_connections=10"]

export const memoryStartParams = [...PGlite.defaultStartParams, ...smallBuffers]

export const diskStartParams = [
  // -F disables fsync. In PGlite's build, `fsync` is the only sync method that reaches the file
  // system.
  ...PGlite.defaultStartParams.filter((param) => param !== "-F"),
  ...smallBuffers,
  "-c",
  "wal_sync_method=fsync"
]
