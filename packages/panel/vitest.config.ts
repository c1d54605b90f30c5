import { defineConfig } from "vitest/config"

/** The tests in a real browser, on the real server. They need Chromium and a built panel. */
export default defineConfig({
  test: {
    include: ["packages/panel/browser/**/*.test.ts"],
    globalSetup: "./packages/panel/browser/support/shared.ts",
    testTimeout: 120_000,
    hookTimeout: 180_000,
    // A page may take seconds on a busy machine.
    expect: { poll: { timeout: 20_000 } },
    // A test that passes only at the second attempt is listed as flaky, as in the other tests.
    retry: process.env["CI"] === undefined ? 0 : 1,
    maxWorkers: 1,
    fileParallelism: false
  }
})
