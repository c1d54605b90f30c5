import { describe, expect, it } from "vitest"
import { runShell } from "./support/shell.ts"
import { setVisibility } from "./support/setVisibility.ts"
import { skipReason, usePanel } from "./support/panel.ts"
import { startReceiver } from "./support/startReceiver.ts"

describe.skipIf(skipReason !== undefined)("notifications", () => {
  const panel = usePanel()

  it("show the response to a test message, and are sent by rules", async () => {
    const { answer, url } = await startReceiver()
    const { page, person, problems } = await panel.openAs()
    const make = (name: string) =>
      person.client.cron.create({
        name,
        schedule: "0 5 * * *",
        url: `${panel.url()}/nowhere`,
        retry_count: 0
      })
    const notifications = `${panel.url()}/w/${person.workspaceId}/notifications`
    await page.goto(notifications)
    await page.getByText("No channels yet").waitFor()
    await page.getByRole("link", { name: "New channel" }).first().click()
    await page.getByText("The operator of this service has not configured a mail server").waitFor()
    await page.getByRole("link", { name: "Webhook" }).click()
    await page.getByLabel("Name").fill("Operations")
    await page.getByLabel("URL", { exact: true }).fill("http://10.0.0.1/")
    await page.getByRole("button", { name: "Create channel" }).click()
    await page.getByRole("alert").waitFor()
    await page.getByLabel("URL", { exact: true }).fill(url)
    await page.getByRole("button", { name: "Create channel" }).click()

    Object.assign(answer, { status: 503, body: "out of paper" })
    await page.getByRole("button", { name: "Send test message" }).click()
    const result = page.getByRole("status").filter({ hasText: "after" })
    await result.getByText("Responded with 503 Service Unavailable: out of paper").waitFor()
    const header = page.locator("header").filter({ has: page.getByRole("heading", { level: 1 }) })
    await header.getByText("Fails").waitFor()
    Object.assign(answer, { status: 200, body: "thanks" })
    await page.getByRole("button", { name: "Send test message" }).click()
    await result.getByText("Delivered").waitFor()
    await header.getByText("Delivers").waitFor()

    await page.goto(`${notifications}/rules`)
    await page.getByRole("button", { name: "Add a rule" }).click()
    await page.getByLabel("Only for these tags").fill("billing")
    await page.getByRole("button", { name: "Save rule" }).click()
    await page
      .getByText(/Notify Operations when a task, chain or monitor tagged billing fails or recovers/)
      .waitFor()
    await page.getByRole("button", { name: "Actions for rule 1" }).click()
    await page.getByRole("menuitem", { name: "Edit" }).click()
    await page.getByLabel("Only for these tags").fill("")
    await page.getByRole("button", { name: "Save rule" }).click()
    await page.getByText(/certificate expires soon\.$/).waitFor()

    const tasks = [await make("Export"), await make("Import")]
    await page.getByRole("button", { name: "Actions for rule 1" }).click()
    await page.getByRole("menuitem", { name: "Edit" }).click()
    const monitorSearch = page.getByLabel("Only for these monitors: search")
    expect(await monitorSearch.getAttribute("placeholder")).toBe("All monitors…")
    for (const { name } of tasks) {
      await page.getByLabel("Only for these tasks: search").fill(name.slice(0, 3))
      await page.getByRole("button", { name: `${name} Cron task` }).click()
    }
    expect(await monitorSearch.getAttribute("placeholder")).toBe("No monitors…")
    await page.getByRole("button", { name: "Remove Import" }).click()
    await page.getByRole("button", { name: "Save rule" }).click()
    await page.getByText(/, only for Export\.$/).waitFor()
    await page.getByLabel("Quiet hours").check()
    await page.getByLabel("From").fill("02:00")
    await page.getByLabel("Until").fill("02:01")
    await page.getByRole("button", { name: "Save timing" }).click()
    await page.getByText("The settings were changed").waitFor()

    await person.client.cron.runAndWait(tasks[0]?.id ?? "")
    await page.goto(`${notifications}/deliveries`)
    await page.getByText("Export failed").waitFor()
    await page.getByRole("row", { name: /Delivered.*Export/ }).waitFor()
    await page.getByRole("link", { name: "Export failed" }).click()
    await page.getByRole("region", { name: "response to attempt 1" }).getByText("thanks").waitFor()
    await page.getByRole("button", { name: "Send message again" }).click()
    await page.getByText("The message was sent again").waitFor()
    expect(problems).toEqual([])
  })

  it("are sent to a new channel after one click", async () => {
    const { url } = await startReceiver()
    const { page, person, problems } = await panel.openAs()
    await page.goto(`${panel.url()}/w/${person.workspaceId}/notifications/rules`)
    await page.getByRole("link", { name: "Create a channel first" }).click()
    await page.getByRole("link", { name: "Webhook" }).click()
    await page.getByLabel("Name").fill("Operations")
    await page.getByLabel("URL", { exact: true }).fill(url)
    await page.getByRole("button", { name: "Create channel" }).click()
    await page.getByText("No rule sends messages to this channel yet.").waitFor()
    await page.getByRole("button", { name: "Send failures and recoveries" }).click()
    await page
      .getByText("No rule sends messages to this channel yet.")
      .waitFor({ state: "detached" })
    await page.goto(`${panel.url()}/w/${person.workspaceId}/notifications/rules`)
    await page
      .getByText(
        /Notify Operations when a task, chain or monitor fails.*certificate expires soon\.$/
      )
      .waitFor()
    expect(problems).toEqual([])
  })

  it("are sent once when a task fails and once when it recovers", async () => {
    const { url } = await startReceiver()
    const { page, person, problems } = await panel.openAs()
    const { client } = person
    const channel = await client.notifications.createChannel({
      name: "Operations",
      kind: "webhook",
      config: { url }
    })
    const { version } = await client.notifications.getSettings()
    await client.notifications.replaceSettings({
      version,
      rules: [{ events: ["execution.failed", "task.recovered"], channel_ids: [channel.id] }]
    })
    const w = `${panel.url()}/w/${person.workspaceId}`
    await page.goto(`${w}/cron/new`)
    await page.getByLabel("Name", { exact: true }).fill("Export")
    await page.getByLabel("Schedule").fill("0 5 * * *")
    await page.getByLabel("URL", { exact: true }).fill(`${panel.url()}/nowhere`)
    await page.getByRole("button", { name: "Create cron task" }).click()
    const executions = page.getByRole("table", { name: "Executions" })
    for (const runs of [1, 2]) {
      await page.getByRole("button", { name: "Run now" }).click()
      await executions
        .getByRole("row", { name: /Failed/ })
        .nth(runs - 1)
        .waitFor()
    }
    await page.goto(w)
    await page.getByRole("link", { name: "Export" }).first().waitFor()
    await page.goto(`${w}/notifications/deliveries`)
    await page.getByRole("row", { name: /Delivered.*Export failed/ }).waitFor()

    await page.goto(`${w}/cron`)
    await page.getByRole("link", { name: "Export" }).click()
    await page.getByRole("link", { name: "Edit" }).click()
    await page.getByLabel("URL", { exact: true }).fill(`${panel.url()}/v1/echo`)
    await page.getByRole("button", { name: "Save changes" }).click()
    await page.getByRole("button", { name: "Run now" }).click()
    await executions.getByRole("row", { name: /Succeeded/ }).waitFor()
    await page.goto(`${w}/notifications/deliveries`)
    await page.getByRole("row", { name: /Delivered.*Export recovered/ }).waitFor()
    await expect.poll(() => page.getByRole("row", { name: /Delivered/ }).count()).toBe(2)
    await page.getByLabel("Kind").selectOption("callback")
    await page.getByText("No deliveries").waitFor()
    await page.getByLabel("Kind").selectOption("webhook")
    await expect.poll(() => page.getByRole("row", { name: /Delivered/ }).count()).toBe(2)
    await page.setViewportSize({ width: 390, height: 844 })
    const sent = page.getByRole("row", { name: /Export failed/ })
    await sent.getByText("to Operations").waitFor()
    expect(await sent.locator("time").first().isVisible()).toBe(true)

    const { ping_url } = await client.heartbeatMonitors.create({
      name: "Import",
      period_seconds: 3_600
    })
    const now = await client.notifications.getSettings()
    await client.notifications.replaceSettings({
      version: now.version,
      rules: [{ events: ["incident.opened"], channel_ids: [channel.id] }]
    })
    await fetch(`${ping_url}/fail`)
    await page.goto(`${w}/incidents`)
    await page.getByRole("link", { name: "Import" }).click()
    const sentMessage = page.getByRole("listitem").filter({ hasText: /Operations.*Delivered/ })
    await sentMessage.getByRole("link", { name: "Message to Operations" }).click()
    await page.getByRole("heading", { name: "Import went down" }).waitFor()
    const facts = page.getByRole("group", { name: "Delivery" })
    await facts.getByRole("link", { name: "Operations" }).waitFor()
    expect(problems).toEqual([])
  })

  it("do not overwrite settings that somebody else has changed", async () => {
    const { page, person } = await panel.openAs()
    const { notifications } = person.client
    await page.goto(`${panel.url()}/w/${person.workspaceId}/notifications/rules`)
    const failures = page.getByLabel("Consecutive failures")
    const save = page.getByRole("button", { name: "Save timing" })
    await failures.fill("3")
    await notifications.replaceSettings({ version: 0, group_seconds: 45, rules: [] })
    await save.click()
    await page.getByText("The settings were changed").waitFor()
    const settings = await notifications.getSettings()
    expect(settings).toMatchObject({ task_failure_threshold: 3, group_seconds: 45 })

    await failures.fill("4")
    await notifications.replaceSettings({ ...settings, task_failure_threshold: 5 })
    await save.click()
    await page.getByRole("button", { name: "Take theirs" }).click()
    expect(await failures.inputValue()).toBe("5")
  })

  it("escalate by a policy, which is created in a form and chosen in a rule", async () => {
    const { page, person, problems } = await panel.openAs()
    const { client, workspaceId } = person
    const { id } = await client.notifications.createChannel({
      kind: "webhook",
      name: "Operations",
      config: { url: "https://alerts.example.com/" }
    })
    const at = `${panel.url()}/w/${workspaceId}/notifications`
    await page.goto(`${at}/escalations`)
    const curl = page.getByRole("region", { name: "Create an escalation policy: curl" })
    const example = (await curl.textContent()) ?? ""
    const { key } = await client.apiKeys.create({ name: "CI", scopes: ["notifications:write"] })
    expect(JSON.parse(await runShell(example, { API_KEY: key }))).toMatchObject({ version: 1 })

    await page.getByRole("button", { name: "New escalation policy" }).first().click()
    await page.getByRole("textbox", { name: "Name" }).fill("Night shift")
    await page.getByRole("button", { name: "Create escalation policy" }).click()
    await page
      .getByText("is required, unless channel_keys or member_ids are given")
      .first()
      .waitFor()
    await page.getByRole("checkbox", { name: "Operations" }).check()
    await page.getByRole("button", { name: "Add a step" }).click()
    const second = page.getByRole("group", { name: "Step 2" })
    await second.getByRole("checkbox", { name: "Operations" }).check()
    await page.getByRole("button", { name: "Create escalation policy" }).click()
    await page.getByRole("row", { name: /Night shift.*2 steps/ }).waitFor()
    const [policy] = (await client.escalations.list({ limit: 1 })).data
    expect(policy).toMatchObject({
      name: "Night shift",
      steps: [
        { after_seconds: 0, channel_ids: [id] },
        { after_seconds: 600, channel_ids: [id] }
      ]
    })

    await page.goto(`${at}/rules`)
    await page.getByRole("button", { name: "Add a rule" }).click()
    await page.getByLabel("Escalation policy").selectOption("Night shift")
    await page.getByRole("button", { name: "Save rule" }).click()
    await page.getByText("the escalation policy").waitFor()
    const { rules } = await client.notifications.getSettings()
    expect(rules[0]).toMatchObject({ escalation_id: policy?.id })

    await page.goto(`${at}/escalations`)
    await page.getByRole("button", { name: "Actions for Night shift" }).click()
    await page.getByRole("menuitem", { name: "Delete" }).click()
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click()
    await page.getByRole("alert").getByText("rule").waitFor()
    expect(problems).toEqual([])
  })

  it("keep what is typed when they are changed elsewhere", async () => {
    const { page, person } = await panel.openAs()
    const { notifications } = person.client
    const channel = await notifications.createChannel({
      kind: "webhook",
      name: "Operations",
      config: { url: `${panel.url()}/v1/echo` }
    })
    const at = `${panel.url()}/w/${person.workspaceId}/notifications`
    await page.goto(`${at}/channels/${channel.id}`)
    const name = page.getByRole("textbox", { name: "Name" })
    await name.fill("Night shift")
    await page.getByRole("button", { name: "Actions for Operations" }).click()
    await page.getByRole("menuitem", { name: "Pause" }).click()
    const header = page.locator("header").filter({ has: page.getByRole("heading", { level: 1 }) })
    await header.getByText("Paused", { exact: true }).waitFor()
    expect(await name.inputValue()).toBe("Night shift")
    await page.getByRole("button", { name: "Save changes" }).click()
    await page.getByText("Night shift was changed").waitFor()
    expect(await notifications.getChannel(channel.id)).toMatchObject({
      name: "Night shift",
      paused: true
    })
  })

  it("lose the rule that was chosen, even if another user removes one", async () => {
    const { page, person } = await panel.openAs()
    const { notifications } = person.client
    const { id } = await notifications.createChannel({
      kind: "webhook",
      name: "Operations",
      config: { url: `${panel.url()}/v1/echo` }
    })
    const rule = (tag: string) => ({
      channel_ids: [id],
      events: ["incident.opened"] as const,
      tags: [tag]
    })
    const replace = async (tags: ReadonlyArray<string>) =>
      notifications.replaceSettings({
        ...(await notifications.getSettings()),
        rules: tags.map(rule)
      })
    await replace(["one", "two", "three"])
    await page.clock.install()
    await page.goto(`${panel.url()}/w/${person.workspaceId}/notifications/rules`)
    await page.getByRole("button", { name: "Actions for rule 2" }).click()
    await page.getByRole("menuitem", { name: "Delete" }).click()
    await replace(["two", "three"])
    await setVisibility(page, "hidden")
    await page.clock.fastForward("00:10")
    await setVisibility(page, "visible")
    await expect
      .poll(() => page.getByRole("listitem").filter({ hasText: "Notify" }).count())
      .toBe(2)
    // The form for the timing does not show the rules.
    expect(await page.getByText("Someone else changed").count()).toBe(0)
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click()
    await page.getByRole("dialog").waitFor({ state: "detached" })
    const { rules } = await notifications.getSettings()
    expect(rules.map(({ tags }) => tags)).toEqual([["three"]])
  })
})
