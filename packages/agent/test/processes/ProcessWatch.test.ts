import { assert, describe, it, vi } from "@effect/vitest"
import { MonitorId } from "@scheduling/domain/shared/Ids"
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import {
  findMatching,
  parseProcess,
  ProcessWatch,
  type ObservedProcess
} from "../../src/processes/ProcessWatch.ts"

const monitor_id = MonitorId.make("019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d41")

const processOf = (fields: Partial<ObservedProcess>): ObservedProcess => ({
  pid: 7,
  name: "node",
  commandLine: "node worker.js --queue mail",
  rssBytes: 1_024,
  cpuSeconds: 1,
  ...fields
})

const stat = (state: string) =>
  `7 (odd) name) ${state} 1 7 7 0 -1 4194304 100 0 0 0 150 50 0 0 20 0 1 0 100 1000000 250 0`

describe("parseProcess", () => {
  it("accepts brackets in the name of the process", () => {
    const seen = parseProcess(7, stat("S"), "odd\0--flag\0", "Name:\todd\nVmRSS:\t  2048 kB\n")
    assert.deepStrictEqual(seen, {
      pid: 7,
      name: "odd) name",
      commandLine: "odd --flag",
      rssBytes: 2_097_152,
      cpuSeconds: 2
    })
  })

  it("returns undefined for an ended process", () => {
    assert.isUndefined(parseProcess(7, stat("Z"), "", ""))
    assert.isUndefined(parseProcess(7, "", "", ""))
  })
})

describe("findMatching", () => {
  const all = [
    processOf({}),
    processOf({ pid: 8, name: "a-rather-long-n", commandLine: "/opt/a-rather-long-name -x" })
  ]
  it.each([
    [{ name: "node" }, [7]],
    [{ name: "nod" }, []],
    [{ name: "a-rather-long-name" }, [8]],
    [{ command_contains: "--queue mail" }, [7]],
    [{ pid_file: "/run/x.pid" }, [8]]
  ] as const)("finds processes by %j", (match, pids) => {
    assert.deepStrictEqual(
      findMatching(all, match, 8, 1).map(({ pid }) => pid),
      [...pids]
    )
  })

  it("does not find secrets or strings that contain a part of one", () => {
    const one = processOf({ commandLine: "node app.js --password hunter2 --queue mail" })
    const found = (command_contains: string) =>
      findMatching([one], { command_contains }, undefined, 1).length
    assert.strictEqual(found("app.js"), 1)
    assert.strictEqual(found("--queue mail"), 1)
    for (const guess of ["hunter2", "--password h", "2 --queue"]) {
      assert.strictEqual(found(guess), 0, guess)
    }
  })

  it("does not find programs that start an agent with this command line", () => {
    const starts = processOf({
      commandLine: "npm exec node main.ts run --watch-command worker.js --queue mail"
    })
    const match = { command_contains: "worker.js --queue mail" }
    assert.deepStrictEqual(findMatching([starts, processOf({})], match, undefined, 1), [
      processOf({})
    ])
  })

  it("does not find the agent itself by its command line", () => {
    assert.lengthOf(findMatching(all, { command_contains: "node" }, undefined, 7), 0)
  })
})

describe("a process watch", () => {
  it("reports at each interval, with the processor time since the last report", async () => {
    let cpuSeconds = 1
    const watch = new ProcessWatch([], async () => [processOf({ cpuSeconds })])
    watch.watch([{ monitor_id, match: { name: "node" }, interval_seconds: 10 }])
    if (process.platform !== "linux") return
    const [first] = await watch.observe(0)
    assert.deepInclude(first, {
      monitor_id,
      count: 1,
      rss_bytes: 1_024,
      cpu_percent: null,
      pids: [7]
    })
    assert.lengthOf(await watch.observe(5_000), 0)
    cpuSeconds = 6
    assert.strictEqual((await watch.observe(10_000))[0]?.cpu_percent, 50)
    watch.watch([])
    assert.lengthOf(await watch.observe(99_000), 0)
  })

  it.runIf(process.platform === "linux")(
    "searches command lines only for texts that the agent allows",
    async () => {
      const watch = new ProcessWatch(["--queue mail"], async () => [processOf({})])
      const other = MonitorId.make("019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d42")
      const byName = MonitorId.make("019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d43")
      watch.watch([
        { monitor_id, match: { command_contains: "--queue mail" }, interval_seconds: 10 },
        { monitor_id: other, match: { command_contains: "--queue" }, interval_seconds: 10 },
        { monitor_id: byName, match: { name: "node" }, interval_seconds: 10 }
      ])
      const seen = await watch.observe(0)
      assert.deepStrictEqual(
        seen.map(({ count, pids, refused }) => ({ count, pids, refused })),
        [
          { count: 1, pids: [7], refused: undefined },
          { count: 0, pids: [], refused: "not_allowed" },
          { count: 1, pids: [7], refused: undefined }
        ]
      )
    }
  )

  it.runIf(process.platform === "linux")("finds a real process until it ends", async () => {
    const mark = `watched-${crypto.randomUUID()}`
    const child: ChildProcess = spawn("sleep", ["600"], { argv0: mark, stdio: "ignore" })
    await once(child, "spawn")
    const watch = new ProcessWatch([mark])
    watch.watch([{ monitor_id, match: { command_contains: mark }, interval_seconds: 10 }])
    const [seen] = await watch.observe(0)
    assert.deepInclude(seen, { count: 1, pids: [child.pid ?? 0] })
    child.kill("SIGKILL")
    await once(child, "exit")
    assert.strictEqual((await watch.observe(60_000))[0]?.count, 0)
  })

  it("counts no process for a pid file that hangs, and reads the others", async () => {
    if (process.platform !== "linux") return
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] })
    try {
      let reads = 0
      const watch = new ProcessWatch(
        [],
        async () => [processOf({})],
        (file) => (file === "/run/x.pid" ? Promise.resolve(7) : new Promise(() => reads++))
      )
      const other = MonitorId.make("019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d42")
      watch.watch([
        { monitor_id, match: { pid_file: "/away/x.pid" }, interval_seconds: 10 },
        { monitor_id: other, match: { pid_file: "/run/x.pid" }, interval_seconds: 10 }
      ])
      for (const nowMs of [0, 10_000]) {
        const seen = watch.observe(nowMs)
        await vi.advanceTimersByTimeAsync(5_000)
        assert.deepStrictEqual(
          (await seen).map(({ count }) => count),
          [0, 1]
        )
      }
      assert.strictEqual(reads, 1)
      assert.deepStrictEqual(
        watch.takeReports().map(({ count }) => count),
        [0, 1]
      )
      assert.lengthOf(watch.takeReports(), 0)
    } finally {
      vi.useRealTimers()
    }
  })

  it("reads the processes at most once a second, also when its monitors change", async () => {
    if (process.platform !== "linux") return
    let reads = 0
    const watch = new ProcessWatch([], async () => {
      reads++
      return []
    })
    const give = (n: number) => {
      const id = MonitorId.make(`019a9f3c-5b1e-7c4a-9d2f-${String(n).padStart(12, "0")}`)
      watch.watch([{ monitor_id: id, match: { name: "node" }, interval_seconds: 10 }])
    }
    for (let nowMs = 0; nowMs < 3_000; nowMs += 10) {
      give(nowMs)
      await watch.observe(nowMs)
    }
    assert.strictEqual(reads, 3)
    give(9_999)
    assert.strictEqual(watch.restMs(2_500), 500)
  })

  it("opens no more pid files while 50 hang", async () => {
    if (process.platform !== "linux") return
    let reads = 0
    const watch = new ProcessWatch(
      [],
      async () => [],
      () => new Promise(() => reads++)
    )
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] })
    try {
      for (let round = 0; round < 5; round++) {
        watch.watch(
          Array.from({ length: 50 }, (_, n) => ({
            monitor_id: MonitorId.make(
              `019a9f3c-5b1e-7c4a-9d2f-${String(round * 50 + n).padStart(12, "0")}`
            ),
            match: { pid_file: `/away/${round}-${n}` },
            interval_seconds: 10
          }))
        )
        const seen = watch.observe(round * 10_000)
        await vi.advanceTimersByTimeAsync(5_000)
        assert.lengthOf(await seen, 50)
      }
      assert.strictEqual(reads, 50)
    } finally {
      vi.useRealTimers()
    }
  })

  it("starts no second read while one hangs, and waits for the next interval", async () => {
    if (process.platform !== "linux") return
    const { promise, resolve } = Promise.withResolvers<ReadonlyArray<ObservedProcess>>()
    const watch = new ProcessWatch([], () => promise)
    watch.watch([{ monitor_id, match: { name: "node" }, interval_seconds: 10 }])
    const hanging = watch.observe(0)
    assert.lengthOf(await watch.observe(10_000), 0)
    assert.strictEqual(watch.restMs(10_000), 9_500)
    resolve([processOf({})])
    assert.lengthOf(await hanging, 1)
  })
})
