import { availableParallelism } from "node:os"
import { defineConfig } from "vitest/config"

export default defineConfig({
  test: {
    include: ["packages/*/test/**/*.test.ts"],
    maxWorkers: availableParallelism(),
    // The files of a worker share its modules and its embedded store, which is emptied for each.
    isolate: false,
    // A file starts a database and a server of its own, on machines that may be busy.
    testTimeout: 60_000,
    hookTimeout: 60_000
  }
})
