import { verify } from "@scheduling/sdk/webhooks"
import { describe, expect, it } from "vitest"
import { skipReason, usePanel } from "./support/panel.ts"
import { startReceiver } from "./support/startReceiver.ts"

describe.skipIf(skipReason !== undefined)("tasks", () => {
  const panel = usePanel()

  it("are created from a pasted line, changed, paused, copied and deleted", async () => {
    const { page, person, problems } = await panel.openAs()
    const at = `${panel.url()}/w/${person.workspaceId}/cron`
    await page.goto(`${at}/new`)
    await page.getByText("Paste a curl command").click()
    await page
      .getByLabel("Command or crontab line")
      .fill(`0 3 * * * curl -H 'x-a: b' -d '{"a":1}' ${panel.url()}/v1/echo`)
    await page.getByText("Every day at 03:00").waitFor()
    await page.getByText("Filled in: POST, URL, 1 header, body, schedule.").waitFor()
    await page.getByLabel("Name", { exact: true }).fill("Nightly")
    await page.getByRole("button", { name: "Create cron task" }).click()
    await page.getByRole("heading", { name: "Nightly" }).waitFor()
    await page.getByText("x-a: b").waitFor()

    await page.getByRole("link", { name: "Edit" }).click()
    await page.getByRole("textbox", { name: "Schedule" }).fill("not a schedule")
    await page.getByRole("button", { name: "Save changes" }).click()
    await page.getByText("1 field needs attention").waitFor()
    await page.getByRole("textbox", { name: "Schedule" }).fill("30 4 * * *")
    await page.getByRole("button", { name: "Save changes" }).click()
    await page.getByText("Every day at 04:30").waitFor()

    await page.getByRole("button", { name: "Pause" }).click()
    await page
      .getByRole("group", { name: "Schedule" })
      .getByText("Paused", { exact: true })
      .waitFor()
    await page.getByRole("button", { name: "Actions for Nightly" }).click()
    await page.getByRole("menuitem", { name: "Duplicate" }).click()
    await page.getByRole("button", { name: "Create cron task" }).click()
    await page.getByRole("heading", { name: "Nightly (copy)" }).waitFor()

    await page.goto(`${at}?status=paused`)
    const row = page.getByRole("row", { name: /Nightly/ })
    await row.waitFor()
    expect(await row.count()).toBe(1)
    await page.getByRole("button", { name: "Actions for Nightly" }).click()
    await page.getByRole("menuitem", { name: "Delete" }).click()
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click()
    await page.getByText("No cron tasks match the filters").waitFor()
    const left = await person.client.cron.list().toArray({ limit: 5 })
    expect(left.map(({ name }) => name)).toEqual(["Nightly (copy)"])
    expect(problems).toEqual([])
  })

  it("make up for slots of the past, which are counted first", async () => {
    const { page, person, problems } = await panel.openAs()
    const task = await person.client.cron.create({
      name: "Hourly",
      schedule: "0 * * * *",
      url: `${panel.url()}/v1/echo`
    })
    await page.goto(`${panel.url()}/w/${person.workspaceId}/cron/${task.id}`)
    const openSheet = async () => {
      await page.getByRole("button", { name: "Actions for Hourly" }).click()
      await page.getByRole("menuitem", { name: "Backfill" }).click()
    }
    await openSheet()
    await page.getByText("24 runs, for the slots from").waitFor()
    await page.getByLabel("From", { exact: true }).fill("2000-01-01T00:00:00")
    await page.getByText("must be within the history").waitFor()
    const from = new Date(Date.now() - 3 * 3_600_000)
    await page.getByLabel("From", { exact: true }).fill(from.toISOString().slice(0, 19))
    await page.getByRole("button", { name: "Start 3 runs" }).click()
    await page.getByText("3 runs of Hourly queued").waitFor()
    const isListed = async () =>
      (await person.client.executions.list({ trigger: ["backfill"] })).data.length === 3
    await expect.poll(isListed).toBe(true)
    await openSheet()
    await page.getByText("21 runs, for the slots from").waitFor()
    expect(problems).toEqual([])
  })

  it("are run by a trigger URL, which is turned on, changed, replaced and turned off", async () => {
    const { page, person, problems } = await panel.openAs()
    const url = `${panel.url()}/v1/echo`
    const task = await person.client.cron.create({ name: "Deploy", url, schedule: "@yearly" })
    await page.goto(`${panel.url()}/w/${person.workspaceId}/cron/${task.id}`)
    const shownUrl = page.getByRole("region", { name: "trigger URL" })
    await page.getByRole("button", { name: "Turn on trigger URL" }).click()
    await page.getByRole("button", { name: "Turn on", exact: true }).click()
    const first = await shownUrl.innerText()
    expect((await fetch(first, { method: "POST" })).status).toBe(202)

    await page.getByRole("button", { name: "Change sender" }).click()
    await page.getByLabel("Requests must be signed by").selectOption("GitHub")
    await page.getByLabel("Secret", { exact: true }).fill("a secret of a webhook")
    await page.getByRole("button", { name: "Save changes" }).click()
    await page.getByText("GitHub can run the task").waitFor()
    expect(await shownUrl.innerText()).toBe(first)
    expect((await fetch(first, { method: "POST" })).status).toBe(400)

    await page.getByRole("button", { name: "Replace URL" }).click()
    await page.getByRole("dialog").getByRole("button", { name: "Replace URL" }).click()
    await page.getByText("The trigger URL was replaced").waitFor()
    expect((await fetch(first, { method: "POST" })).status).toBe(404)
    await page.getByRole("button", { name: "Turn off" }).click()
    await page.getByRole("dialog").getByRole("button", { name: "Turn off" }).click()
    await page.getByRole("button", { name: "Turn on trigger URL" }).waitFor()
    expect(await person.client.cron.getTrigger(task.id)).toMatchObject({ enabled: false })
    expect(problems).toEqual([])
  })

  it("keep their rare options", async () => {
    const { page, person, problems } = await panel.openAs()
    await page.goto(`${panel.url()}/w/${person.workspaceId}/cron/new`)
    await page.getByLabel("Name", { exact: true }).fill("Careful")
    await page.getByLabel("URL", { exact: true }).fill(`${panel.url()}/v1/echo`)
    await page.getByRole("textbox", { name: "Schedule" }).fill("0 3 * * *")
    await page.getByText("Seconds, dates, jitter and pauses").click()
    await page.getByLabel("Excluded days", { exact: true }).fill("2099-12-24")
    await page.getByLabel("Jitter (seconds)").fill("30")
    await page.getByLabel("Pause after consecutive failures").fill("5")
    await page.getByText("Advanced").click()
    await page.getByLabel("Success status codes").fill("200, 404-410")
    await page.getByLabel("First retry after (seconds)").fill("10")
    await page.getByRole("button", { name: "Create cron task" }).click()
    await page.getByText("after 5 consecutive failures").waitFor()
    await page.getByText("200, 404-410").waitFor()
    await page.getByRole("link", { name: "Edit" }).click()
    await page.getByRole("button", { name: "Save changes" }).click()
    await page.getByRole("heading", { name: "Careful" }).waitFor()
    const [task] = await person.client.cron.list().toArray({ limit: 1 })
    expect(task).toMatchObject({
      excluded_days: ["2099-12-24"],
      jitter_seconds: 30,
      pause_after_failures: 5,
      success_codes: ["200", "404-410"],
      retry: { count: 3, first_seconds: 10, factor: 2, max_seconds: 3_600 }
    })
    expect(problems).toEqual([])
  })

  it("send callbacks, and wait for reports to the completion URL", async () => {
    const { page, person, problems } = await panel.openAs()
    const w = `${panel.url()}/w/${person.workspaceId}`
    const { answer, url } = await startReceiver()
    const told = "https://hooks.example.com/"
    await page.goto(`${w}/delayed/new`)
    await page.getByLabel("Name", { exact: true }).fill("Import")
    await page.getByLabel("URL", { exact: true }).fill(url)
    await page.getByLabel("Delay", { exact: true }).fill("0")
    await page.getByText("Advanced").click()
    await page.getByLabel("An attempt finishes").selectOption("callback")
    await page.getByLabel("Timeout (seconds)").fill("3600")
    await page.getByLabel("Failure callback").fill("ftp://hooks.example.com/")
    await page.getByRole("button", { name: "Create delayed task" }).click()
    await page.getByRole("alert").first().waitFor()
    await page.getByLabel("Failure callback").fill(told)
    await page.getByRole("button", { name: "Create delayed task" }).click()
    await page.getByRole("heading", { name: "Import" }).waitFor()
    await page.getByText("When the job reports its result").waitFor()
    await page.getByText(told).waitFor()
    await expect.poll(() => answer.calls.length).toBe(1)
    const [task] = await person.client.delayed.list().toArray({ limit: 1 })
    expect(task).toMatchObject({
      completion: "callback",
      on_failure: { url: told },
      on_success: null
    })

    const [run] = await person.client.executions.list().toArray({ limit: 1 })
    await page.goto(`${w}/executions/${run?.id}`)
    await page.getByText("Waiting since").waitFor()
    const completeUrl = String(answer.calls[0]?.["scheduling-complete-url"])
    await fetch(`${completeUrl}/log`, { method: "POST", body: "21 of 42 rows" })
    await page.reload()
    await page.getByText("21 of 42 rows").waitFor()
    await fetch(completeUrl, { method: "POST" })
    await page.getByText("Waiting since").waitFor({ state: "detached" })
    expect(problems).toEqual([])
  })

  it("keep their callbacks and completion when they are edited", async () => {
    const { page, person, problems } = await panel.openAs()
    const w = `${panel.url()}/w/${person.workspaceId}`
    const callbacks = {
      on_failure: { url: "https://hooks.example.com/failed" },
      on_success: { url: "https://hooks.example.com/done" }
    }
    const call = {
      url: `${panel.url()}/v1/echo`,
      completion: "auto",
      timeout_seconds: 3_600
    } as const
    const { id: cronId } = await person.client.cron.create({
      ...call,
      ...callbacks,
      name: "Told cron",
      schedule: "0 3 * * *"
    })
    const { id: chainId } = await person.client.chains.create({
      ...callbacks,
      name: "Told chain",
      steps: [{ ...call, name: "only" }]
    })
    for (const path of [`cron/${cronId}`, `chains/${chainId}`]) {
      await page.goto(`${w}/${path}`)
      await page.getByText(callbacks.on_success.url).waitFor()
      await page.getByRole("link", { name: "Edit" }).click()
      await page.getByLabel("Failure callback").fill("")
      await page.getByRole("button", { name: "Save changes" }).click()
      await page.getByText(callbacks.on_success.url).waitFor()
      // The versions still contain the callback URL, but they are collapsed.
      const shown = page.getByText(callbacks.on_failure.url).filter({ visible: true })
      await shown.waitFor({ state: "detached" })
    }
    const cron = await person.client.cron.get(cronId)
    expect(cron).toMatchObject({
      completion: "auto",
      on_success: callbacks.on_success,
      on_failure: null
    })
    const chain = await person.client.chains.get(chainId)
    expect(chain).toMatchObject({ on_success: callbacks.on_success })
    expect(chain.steps[0]).toMatchObject({ completion: "auto", timeout_seconds: 3_600 })
    expect(problems).toEqual([])
  })

  it("that fail show their attempts, and can be run again", async () => {
    const { page, person, problems } = await panel.openAs()
    const { id } = await person.client.cron.create({
      name: "Broken",
      url: `${panel.url()}/nowhere`,
      schedule: "0 3 * * *"
    })
    await person.client.cron.runAndWait(id)
    await page.goto(`${panel.url()}/w/${person.workspaceId}/executions?status=failed`)
    await page.getByRole("link", { name: "Broken" }).click()
    await page.getByText("No endpoint at this URL.").waitFor()
    const curl = page.getByRole("region", { name: "curl command" })
    await curl.getByText(`curl -X POST '${panel.url()}/nowhere'`).waitFor()
    await page.getByRole("button", { name: "Add signature" }).click()
    await curl.getByText(/webhook-signature: v1,/).waitFor()
    const headers = Object.fromEntries(
      [...((await curl.textContent()) ?? "").matchAll(/-H '([\w-]+): ([^']*)'/g)].map(
        ([, name = "", value = ""]) => [name, value]
      )
    )
    const { data: secrets } = await person.client.workspaces.getSigningSecrets({ url: panel.url() })
    await verify("", headers, secrets[0]?.call_secret)
    const first = page.url()
    await page.getByRole("button", { name: "Run again" }).click()
    await page.waitForURL((url) => url.href !== first)
    await page.getByText("404").first().waitFor()
    await page.goto(`${panel.url()}/w/${person.workspaceId}/executions?status=failed`)
    await page.getByRole("button", { name: "Run all again" }).click()
    await page.getByRole("dialog").getByRole("button", { name: "Run again" }).click()
    await page.getByText("2 executions were started again").waitFor()
    expect(problems).toEqual([])
  })

  it("appear in an open list without polling", async () => {
    const { page, person } = await panel.openAs()
    await page.goto(`${panel.url()}/w/${person.workspaceId}/executions`)
    await page.getByText("No executions yet").waitFor()
    await page.getByText("Live").waitFor()
    const { id } = await person.client.cron.create({
      name: "From elsewhere",
      url: `${panel.url()}/v1/echo`,
      schedule: "0 3 * * *"
    })
    await person.client.cron.run(id)
    await page.getByRole("row", { name: /Succeeded.*From elsewhere/ }).waitFor()
  })

  it("are named in a list of executions with one request", async () => {
    const { page, person, problems } = await panel.openAs()
    const { client, workspaceId } = person
    const url = `${panel.url()}/v1/echo`
    const { id } = await client.cron.create({ name: "Kept", url, schedule: "0 3 * * *" })
    const gone = await client.cron.create({ name: "Gone", url, schedule: "0 3 * * *" })
    const unnamed = await client.delayed.create({ url, delay_seconds: 0 })
    for (const one of [id, gone.id, id]) await client.cron.runAndWait(one)
    await client.cron.delete(gone.id)
    await expect.poll(async () => (await client.delayed.get(unnamed.id)).status).toBe("finished")
    const asked: Array<URL> = []
    page.on("request", (request) => asked.push(new URL(request.url())))
    await page.goto(`${panel.url()}/w/${workspaceId}/executions`)
    await page.getByRole("row", { name: /Kept/ }).nth(1).waitFor()
    await page.getByRole("row", { name: /A deleted task/ }).waitFor()
    await page.getByRole("row", { name: new RegExp(url.replace("http://", "")) }).waitFor()
    // A late event may have repeated the request.
    const named = asked.filter(({ pathname }) => pathname.endsWith("/activity/names"))
    expect(new Set(named.map(({ href }) => href)).size).toBe(1)
    const ofTasks = asked.filter(({ pathname }) =>
      /\/(?:cron|delayed|chains)(?:\/|$)/.test(pathname)
    )
    expect(ofTasks).toEqual([])
    expect(problems).toEqual([])
  })

  it("show that a time has passed", async () => {
    const { page, person } = await panel.openAs()
    await page.goto(`${panel.url()}/w/${person.workspaceId}/delayed/new`)
    await page.getByText("At a time").click()
    const passed = page.getByText("This time has passed. The call will start immediately.")
    await page.getByLabel("Time", { exact: true }).fill("2099-01-01T10:00:00")
    expect(await passed.count()).toBe(0)
    await page.getByLabel("Time", { exact: true }).fill("2020-01-01T10:00:00")
    await passed.waitFor()
  })

  it("with a delay run once, and can be cancelled before", async () => {
    const { page, person, problems } = await panel.openAs()
    await page.goto(`${panel.url()}/w/${person.workspaceId}/delayed/new`)
    await page.getByLabel("Name").fill("Remind Ada")
    await page.getByLabel("URL", { exact: true }).fill(`${panel.url()}/v1/echo`)
    await page.getByRole("button", { name: "Create delayed task" }).click()
    await page.getByRole("button", { name: "Run now" }).click()
    await page.getByRole("row", { name: /Succeeded/ }).waitFor()
    const { id } = await person.client.delayed.create({
      name: "Never",
      url: `${panel.url()}/v1/echo`,
      delay_seconds: 3600
    })
    await page.goto(`${panel.url()}/w/${person.workspaceId}/delayed/${id}`)
    await page.getByRole("button", { name: "Cancel task" }).click()
    await page.getByRole("dialog").getByRole("button", { name: "Cancel task" }).click()
    await page.getByText("The task was cancelled before it was due.").waitFor()
    expect(problems).toEqual([])
  })

  it("in chains use the responses of earlier steps, and show which do not exist", async () => {
    const { page, person, problems } = await panel.openAs()
    await page.goto(`${panel.url()}/w/${person.workspaceId}/chains/new`)
    await page.getByLabel("Name", { exact: true }).first().fill("Export")
    await page.getByLabel("URL", { exact: true }).fill(`${panel.url()}/v1/echo`)
    await page.getByRole("button", { name: "Add a step" }).click()
    await page.getByLabel("URL", { exact: true }).nth(1).fill(`${panel.url()}/v1/echo`)
    await page.getByLabel("Body", { exact: true }).nth(1).fill('{"was":{{ steps.second.status }}}')
    await page.getByText("No earlier step has the name “second”.").waitFor()
    await page.getByLabel("Body", { exact: true }).nth(1).fill('{"was":{{ steps.first.status }}}')
    await page.getByRole("button", { name: "Create chain" }).click()
    await page.getByRole("heading", { name: "Export" }).waitFor()
    await page.getByRole("button", { name: "Run now" }).click()
    await page.getByRole("row", { name: /Succeeded/ }).waitFor()
    await page.getByText("step2").filter({ visible: true }).click()
    await page.getByText(String.raw`"body": "{\"was\":200}"`).waitFor()
    await page.getByText("The request as it was sent").waitFor()
    const sent = page.getByRole("region", { name: "body of step2" })
    await sent.filter({ hasText: '"was": 200' }).waitFor()

    const { data } = await person.client.chains.list({ limit: 1 })
    const url = `${panel.url()}/v1/echo`
    await person.client.chains.update(data[0]!.id, { steps: [{ name: "first", url }] })
    await page.reload()
    await page.getByText("The chain was changed after this run started").waitFor()
    await page.getByText("Removed from the chain").waitFor()
    await page.getByText("step2").filter({ visible: true }).click()
    await page.getByText(String.raw`"body": "{\"was\":200}"`).waitFor()
    expect(problems).toEqual([])
  })
})
