import { availableParallelism } from "node:os"
import { defineConfig } from "vitest/config"

/** Starts several nodes and says how soon they act: runs when nothing else does. */
const onItsOwn = ["packages/server/test/runner/{Burst,Nodes,Restart}.test.ts"]

export default defineConfig({
  test: {
    // The files of a worker share its modules and its embedded store, which is emptied for each.
    isolate: false,
    // A file starts a database and a server of its own, on machines that may be busy.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    // As the server does first of all: what is tested is what runs.
    setupFiles: ["effect/schema/SchemaJITCompiler/enable", "./scripts/record-statements.ts"],
    projects: [
      {
        extends: true,
        test: {
          name: "service",
          include: ["packages/*/test/**/*.test.ts"],
          exclude: onItsOwn,
          maxWorkers: availableParallelism(),
          sequence: { groupOrder: 0 }
        }
      },
      {
        extends: true,
        test: {
          name: "cluster",
          include: onItsOwn,
          maxWorkers: 1,
          sequence: { groupOrder: 1 }
        }
      }
    ]
  }
})
