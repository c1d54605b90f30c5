import { execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, expect, it } from "vitest"
import { makeUniqueKeys, RecordReader } from "../src/importers/ImportResult.ts"
import { readCronJobOrg } from "../src/importers/readCronJobOrg.ts"
import { readCrontab } from "../src/importers/readCrontab.ts"
import { readHealthchecks } from "../src/importers/readHealthchecks.ts"
import { readKuma } from "../src/importers/readKuma.ts"
import { readQstash } from "../src/importers/readQstash.ts"

const fixture = (name: string) => readFileSync(join(import.meta.dirname, "fixtures", name), "utf8")
const json = (name: string) => JSON.parse(fixture(name))

const texts = ({ reports }: ReturnType<typeof readKuma>) =>
  reports.map(({ outcome, source }) => `${source}: ${outcome}`)

const crontabs = fixture("crontabs.txt")
  .split(/^=== /m)
  .filter((one) => one !== "")
  .map((one) => {
    const end = one.indexOf("\n")
    const [name, text] = [one.slice(0, end), one.slice(end + 1)]
    // If the file itself contained these line endings, Git would convert them.
    return [name, name.startsWith("windows") ? text.replaceAll("\n", "\r\n") : text] as const
  })

describe("crontabs", () => {
  it("are thirty or more", () => {
    expect(crontabs.length).toBeGreaterThanOrEqual(30)
  })

  it.each(crontabs)("account for every line: %s", (name, text) => {
    const { document, reports } = readCrontab(text, {
      timezone: "Europe/Berlin",
      isSystem: name.endsWith(" system")
    })
    const written = text
      .split("\n")
      .flatMap((line, index) => (line.trim() === "" ? [] : [`line ${index + 1}`]))
    assert.deepStrictEqual(
      reports.map(({ source }) => source),
      written
    )
    const { monitors = [], tasks = [] } = document as Record<string, ReadonlyArray<object>>
    const carried = reports.filter(({ outcome }) => /^(?:a heartbeat|the cron task)/.test(outcome))
    assert.lengthOf([...monitors, ...tasks], carried.length)
    assert.isEmpty(reports.filter(({ outcome }) => outcome === ""))
  })

  it.each([
    ["/opt/backup --full >> /var/log/backup.log 2>&1", undefined],
    ["cd /srv/app && php artisan schedule:run", "sh"],
    ["LANG=C /opt/report", "sh"],
    ["echo it\\'s | /opt/pipe", "sh"],
    [". /etc/job.env; /opt/job", "sh"]
  ])("watch the whole of a command: %s", (command, shell) => {
    const [report] = readCrontab(`@daily ${command}`, { timezone: "UTC", isSystem: false }).reports
    const [, watched = ""] = /scheduling exec \S+ -- (.*)$/.exec(report?.outcome ?? "") ?? []
    // The shell of cron splits the line into the arguments of the program that is watched.
    const words = execFileSync("sh", ["-c", `printf '%s\\n' ${watched.replace(/ >>.*/, "")}`])
    assert.deepStrictEqual(
      words.toString().trimEnd().split("\n"),
      shell === undefined ? ["/opt/backup", "--full"] : [shell, "-c", command]
    )
  })

  it("call a URL with the limits of curl", () => {
    const line = "@hourly curl --silent -fS -m 10 --retry 5 -o /dev/null https://shop.example/cron"
    const { document } = readCrontab(line, { timezone: "UTC", isSystem: false })
    expect(document).toMatchObject({
      tasks: [{ url: "https://shop.example/cron", timeout_seconds: 10, retry_count: 5 }]
    })
  })

  it("run a command in the shell of the crontab", () => {
    const { reports } = readCrontab('SHELL="/bin/bash"\n@daily a | b', {
      timezone: "UTC",
      isSystem: false
    })
    expect(reports[1]?.outcome).toContain("-- /bin/bash -c 'a | b'")
  })

  it("carry over all entries except those that another service cannot have", () => {
    const refused = crontabs.flatMap(([name, text]) =>
      readCrontab(text, { timezone: "UTC", isSystem: name.endsWith(" system") }).reports.filter(
        (one) => one.outcome.startsWith("not carried over")
      )
    )
    assert.deepStrictEqual(
      refused.map(({ outcome }) => /: (.{0,20})/.exec(outcome)?.[1]),
      [
        "@reboot is not a tim",
        "@every_minute is not",
        "a % begins the stand",
        "a % begins the stand",
        'minute: "60" is outs',
        'day of week: "/opt/t',
        'day of month: "32" i',
        "it has no command"
      ]
    )
  })
})

describe("imports", () => {
  it("from Healthchecks keep the schedule, the grace and the UUID", () => {
    const imported = readHealthchecks(json("checks.json"))
    expect(imported.document).toMatchObject({
      monitors: [
        {
          key: "nightly-backup",
          schedule: "0 3 * * *",
          timezone: "Europe/Berlin",
          grace_seconds: 30,
          ping_id: "5f3c1a52-93a4-4c5e-8d0b-9f1e2d3c4b5a",
          tags: ["prod", "db"]
        },
        { period_seconds: 86_400, paused: true }
      ]
    })
    assert.deepStrictEqual(texts(imported).slice(0, 2), [
      "check Nightly backup: the heartbeat monitor nightly-backup; left out: channels, desc, filter_body, success_kw",
      "check 2: the heartbeat monitor job; without its UUID, which Healthchecks shows with a read-write key"
    ])
    expect(texts(imported)[2]).toContain("not carried over: Mon *-*-* 03:00")
  })

  it("from cron-job.org keep the call and the schedule", () => {
    const imported = readCronJobOrg(json("jobs.json"))
    expect(imported.document).toMatchObject({
      tasks: [
        { schedule: "0,15,30,45 * * * 1,2,3,4,5", timezone: "Europe/Berlin", timeout_seconds: 30 },
        { method: "POST", body: '{"day":"today"}', paused: true }
      ]
    })
    expect(texts(imported)[1]).toMatch(/left out: saveResponses; move the value of Authorization/)
    expect(texts(imported)[2]).toContain("not carried over: days of the month and of the week")
  })

  it("from QStash keep the call, the retries and the callbacks", () => {
    const imported = readQstash(json("schedules.json"))
    expect(imported.document).toMatchObject({
      tasks: [
        {
          key: "digest",
          schedule: "0 4 * * *",
          timezone: "America/New_York",
          retry_count: 3,
          on_failure: { url: "https://app.example/api/failed" }
        },
        { body: "hello", paused: true }
      ]
    })
    expect(texts(imported)[0]).toContain("left out: queueName")
    expect(texts(imported)[2]).toContain("not carried over: the destination all-services")
  })

  it("from Uptime Kuma keep what the monitor of the kind can do", () => {
    const imported = readKuma(json("kuma.json"))
    expect(imported.document).toMatchObject({
      monitors: [
        { kind: "http", confirm_after: 3, headers: { "X-Probe": "1" }, tags: ["prod"] },
        { kind: "http", body_contains: "Sign in", follow_redirects: false, paused: true },
        { kind: "http", body_json: { path: "status", equals: "ok" } },
        { kind: "tcp", host: "db.example", port: 5432 },
        { kind: "dns", record_type: "AAAA", resolver: "1.1.1.1" },
        { kind: "heartbeat", period_seconds: 86_400 }
      ]
    })
    expect(texts(imported)[0]).toContain("left out: expiryNotification, notificationIDList")
    expect(texts(imported)[6]).toContain("not carried over: monitors of the kind ping")
    expect(texts(imported)[7]).toContain("not carried over: its mode is upside down")
  })

  it("say which fields with a value were not read", () => {
    const source = new RecordReader({ a: 1, b: "", c: [], d: "x", e: null, state: 1 }, ["state"])
    expect(source.left).toEqual(["a", "d"])
    source.take("a")
    expect(source.left).toEqual(["d"])
  })

  it("give each record a key of its own", () => {
    const keyOf = makeUniqueKeys()
    expect(["A job", "A job", "***", ""].map(keyOf)).toEqual(["A-job", "A-job-2", "job", "job-2"])
  })

  it("refuse a file without records", () => {
    expect(() => readKuma({ version: 1 })).toThrow(/has no list of records/)
  })
})
