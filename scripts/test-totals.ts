/**
 * Adds up Vitest's JSON reports and prints `<passed> <failed>`. A file that failed before it could
 * declare a test (a syntax error, a failed import) has no failed test in the report, so it counts
 * as one.
 */
import { readFileSync } from "node:fs"

interface Report {
  readonly numPassedTests: number
  readonly numFailedTests: number
  readonly testResults: ReadonlyArray<{
    readonly status: string
    readonly assertionResults: ReadonlyArray<{ readonly status: string }>
  }>
}

let passed = 0
let failed = 0
for (const path of process.argv.slice(2)) {
  const report: Report = JSON.parse(readFileSync(path, "utf8"))
  passed += report.numPassedTests
  failed += report.numFailedTests
  failed += report.testResults.filter(
    (file) =>
      file.status === "failed" && !file.assertionResults.some((test) => test.status === "failed")
  ).length
}
console.log(passed, failed)
