import { defineConfig } from "vitest/config"

/** The tests in a real browser, on the real server. They need Chromium and a built panel. */
export default defineConfig({
  test: {
    include: ["packages/panel/browser/**/*.test.ts"],
    testTimeout: 120_000,
    hookTimeout: 180_000,
    maxWorkers: 1,
    fileParallelism: false
  }
})
