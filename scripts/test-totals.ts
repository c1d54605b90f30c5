/**
 * Adds up Vitest's JSON reports and prints `<passed> <failed>`. Lists failed tests on standard
 * error. A file that failed before declaring a test (a syntax error, a failed import) has no failed
 * test in the report, so the file itself counts as a failed test.
 */
import { readFileSync } from "node:fs"
import { basename, relative } from "node:path"

interface Test {
  readonly status: string
  readonly fullName: string
  readonly failureMessages: ReadonlyArray<string>
}

interface Report {
  readonly numPassedTests: number
  readonly testResults: ReadonlyArray<{
    readonly name: string
    readonly status: string
    readonly message: string
    readonly assertionResults: ReadonlyArray<Test>
  }>
}

let passed = 0
let failed = 0
for (const path of process.argv.slice(2)) {
  const report: Report = JSON.parse(readFileSync(path, "utf8"))
  const failures = report.testResults.flatMap((file) => {
    const name = `${basename(path, ".json")}: ${relative(".", file.name)}`
    const tests = file.assertionResults.filter((test) => test.status === "failed")
    if (tests.length === 0) return file.status === "failed" ? [`${name}\n${file.message}`] : []
    return tests.map((test) => [`${name} > ${test.fullName}`, ...test.failureMessages].join("\n"))
  })
  passed += report.numPassedTests
  failed += failures.length
  for (const failure of failures) console.error(`FAILED ${failure}`)
}
console.log(passed, failed)
