import { defineConfig } from "vitest/config"

/** Tests in a real browser against the real server. They require Chromium and a built panel. */
export default defineConfig({
  test: {
    include: ["packages/panel/browser/**/*.test.ts"],
    globalSetup: [
      "./packages/server/test/support/storeFiles.ts",
      "./packages/panel/browser/support/shared.ts"
    ],
    testTimeout: 120_000,
    hookTimeout: 180_000,
    // A page may take seconds on a busy machine.
    expect: { poll: { timeout: 20_000 } },
    // A test that passes only on the second attempt is listed as flaky, as in the other suites.
    retry: process.env["CI"] === undefined ? 0 : 1,
    // One process for all files, which loads the modules once.
    isolate: false,
    fileParallelism: false
  }
})
