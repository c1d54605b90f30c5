/**
 * A Vitest reporter for results that test counts do not show: tests that passed only when retried,
 * and errors outside of tests, which also make Vitest fail. Writes to the file `TEST_NOTES`.
 */
import { appendFileSync } from "node:fs"
import type { Reporter, TestModule } from "vitest/node"

type Errors = Parameters<NonNullable<Reporter["onTestRunEnd"]>>[1]

const notesFile = process.env["TEST_NOTES"]

const flakyIn = (file: TestModule) =>
  [...file.children.allTests()].filter((test) => test.diagnostic()?.flaky === true)

const flakyNotes = (files: ReadonlyArray<TestModule>) =>
  files.flatMap(flakyIn).map((test) => {
    const messages = (test.result().errors ?? []).map(({ message }) => `       ${message}`)
    return [`flaky: ${test.module.relativeModuleId} > ${test.fullName}`, ...messages].join("\n")
  })

export default class TestNotes implements Reporter {
  onTestRunEnd(files: ReadonlyArray<TestModule>, errors: Errors): void {
    const outside = errors.map(
      ({ message, stack }) => `outside any test: ${message}\n${stack ?? "(no stack)"}`
    )
    const notes = [...flakyNotes(files), ...outside]
    if (notesFile !== undefined)
      appendFileSync(notesFile, notes.map((note) => `${note}\n`).join(""))
  }
}
