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
    // As for all other tests: what passes only the second time is listed.
    retry: process.env["CI"] === undefined ? 0 : 1,
    maxWorkers: 1,
    fileParallelism: false
  }
})
