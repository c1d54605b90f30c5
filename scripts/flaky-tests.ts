/** A Vitest reporter that lists the tests which passed only when they were tried again. */
import type { Reporter, TestModule } from "vitest/node"

const flakyIn = (file: TestModule) =>
  [...file.children.allTests()].filter((test) => test.diagnostic()?.flaky === true)

export default class FlakyTests implements Reporter {
  onTestRunEnd(files: ReadonlyArray<TestModule>): void {
    for (const test of files.flatMap(flakyIn)) {
      console.log(`flaky: ${test.module.relativeModuleId} > ${test.fullName}`)
      for (const { message } of test.result().errors ?? []) console.log(`       ${message}`)
    }
  }
}
