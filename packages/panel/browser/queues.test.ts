import { describe, expect, it } from "vitest"
import { skipReason, usePanel } from "./support/panel.ts"

describe.skipIf(skipReason !== undefined)("a queue", () => {
  const panel = usePanel()

  it("is created, used by a task, resumed, changed and deleted", async () => {
    const { page, person, problems } = await panel.openAs()
    const w = `${panel.url()}/w/${person.workspaceId}`
    await page.goto(`${w}/queues`)
    await page.getByRole("button", { name: "New queue" }).first().click()
    await page.getByLabel("Name").fill("Billing")
    await page.getByLabel("Maximum starts per second").fill("0.5")
    await page.getByRole("button", { name: "Create queue" }).click()
    await page.getByText("2 concurrent, one every 2 s").waitFor()
    const menu = page.getByRole("button", { name: "Actions for Billing" })
    await menu.click()
    await page.getByRole("menuitem", { name: "Pause" }).click()
    await page.getByText("Paused", { exact: true }).waitFor()
    const row = page.getByRole("row", { name: /Billing/ })
    await row.getByText(/paused .*\d\d:\d\d by Ada Lovelace/).waitFor()
    expect(await row.locator(".bg-warn").count()).toBe(0)

    await page.goto(`${w}/delayed/new`)
    await page.getByLabel("Name", { exact: true }).fill("Invoice")
    await page.getByLabel("URL", { exact: true }).fill(`${panel.url()}/v1/echo`)
    await page.getByLabel("Delay", { exact: true }).fill("0")
    await page.getByRole("radio", { name: "Queue" }).check()
    await page.getByRole("combobox", { name: "Queue" }).selectOption({ index: 1 })
    await page.getByRole("button", { name: "Create delayed task" }).click()
    await page.getByRole("heading", { name: "Invoice" }).waitFor()
    await page.getByRole("heading", { name: "Queued" }).waitFor()
    await page.getByText("Waits for a slot in the queue Billing, which is paused.").waitFor()
    await page.getByRole("link", { name: "Queued" }).click()
    await page.waitForURL("**/executions/**")
    await page.getByText("Waits for a slot in the queue Billing, which is paused.").waitFor()
    await page.goto(`${w}/delayed`)
    await page.getByRole("row", { name: /Invoice.*Queued/ }).waitFor()
    await page.getByRole("link", { name: "Invoice" }).click()
    await page.getByRole("link", { name: "Billing" }).first().click()
    await page.waitForURL("**/queues")
    const { data } = await person.client.queues.list({ limit: 1 })
    expect(data[0]?.waiting).toBe(1)
    await row.locator(".bg-warn").waitFor()
    await row
      .getByText(/^for \d+ s$/)
      .last()
      .waitFor()

    await menu.click()
    await page.getByRole("menuitem", { name: "Delete" }).click()
    await page.getByRole("button", { name: "Delete", exact: true }).click()
    await page.getByText("Tasks or chains use this queue").first().waitFor()
    await page.keyboard.press("Escape")

    await row.getByRole("button", { name: "Resume Billing" }).click()
    await page.getByText("Billing was resumed").waitFor()
    await menu.click()
    await page.getByRole("menuitem", { name: "Edit" }).click()
    await page.getByLabel("Maximum starts per second").fill("")
    await page.getByRole("button", { name: "Save changes" }).click()
    await page.getByText("2 concurrent", { exact: true }).waitFor()

    const task = await person.client.delayed.list({ limit: 1 })
    await expect
      .poll(async () => (await person.client.delayed.get(task.data[0]!.id)).status)
      .toBe("finished")
    await menu.click()
    await page.getByRole("menuitem", { name: "Delete" }).click()
    await page.getByRole("button", { name: "Delete", exact: true }).click()
    await page.getByText("No queues yet").waitFor()
    expect(problems).toEqual([])
  })
})

describe.skipIf(skipReason !== undefined)("a flow", () => {
  const panel = usePanel()

  it("is given to a task, shown, corrected, and replaced by nothing", async () => {
    const { page, person, problems } = await panel.openAs()
    const w = `${panel.url()}/w/${person.workspaceId}`
    await page.goto(`${w}/delayed/new`)
    await page.getByLabel("Name", { exact: true }).fill("Invoice")
    await page.getByLabel("URL", { exact: true }).fill(`${panel.url()}/v1/echo`)
    await page.getByText("or with the same flow key, share limits").waitFor()
    await page.getByRole("radio", { name: "Flow key" }).check()
    await page.getByLabel("Key", { exact: true }).fill("customer:{{ now }}")
    await page.getByLabel("Maximum concurrent runs").fill("1")
    await page.getByLabel("Keep the order").check()
    await page.getByRole("button", { name: "Create delayed task" }).click()
    await page.getByText("the key of a flow can only use").first().waitFor()
    await page.getByLabel("Key", { exact: true }).fill("customer:{{ input.customer }}")
    await page.getByRole("button", { name: "Create delayed task" }).click()
    await page.getByRole("heading", { name: "Invoice" }).waitFor()
    await page.getByText("customer:{{ input.customer }}").waitFor()
    await page.getByText("1 concurrent, in order").waitFor()

    const { data } = await person.client.delayed.list({ limit: 1 })
    const id = data[0]!.id
    await page.goto(`${w}/delayed/${id}/edit`)
    await page.getByLabel("Key", { exact: true }).waitFor()
    await page.getByRole("radio", { name: "Nothing" }).check()
    await page.getByRole("button", { name: "Save changes" }).click()
    await page.getByRole("heading", { name: "Invoice" }).waitFor()
    await expect.poll(async () => (await person.client.delayed.get(id)).flow).toBe(null)
    expect(problems).toEqual([])
  })

  it("shows the key of each run on the page of its execution", async () => {
    const { page, person, problems } = await panel.openAs()
    const { id } = await person.client.cron.create({
      name: "Sync",
      url: `${panel.url()}/v1/echo`,
      schedule: "0 3 1 1 *",
      flow: { key: "customer:{{ input.customer }}", max_concurrency: 1 }
    })
    const run = await person.client.cron.runAndWait(id, { input: { customer: "ada" } })
    expect(run.flow_key).toBe("customer:ada")
    await page.goto(`${panel.url()}/w/${person.workspaceId}/executions/${run.id}`)
    await page.getByText("customer:ada", { exact: true }).waitFor()
    expect(problems).toEqual([])
  })
})
