import { describe, expect, it } from "vitest"
import { skipReason, usePanel } from "./support/panel.ts"

describe.skipIf(skipReason !== undefined)("a record that two users edit", () => {
  const panel = usePanel()

  const taskOf = async () => {
    const opened = await panel.openAs()
    const { page, person } = opened
    const task = await person.client.cron.create({
      name: "Nightly",
      schedule: "0 3 * * *",
      timezone: "UTC",
      url: `${panel.url()}/v1/echo`
    })
    await page.goto(`${panel.url()}/w/${person.workspaceId}/cron/${task.id}/edit`)
    const name = page.getByLabel("Name", { exact: true })
    await name.waitFor()
    return { ...opened, name, read: () => person.client.cron.get(task.id), task }
  }

  it("keeps the change of another tab when a form that was opened before it is saved", async () => {
    const { name, page, person, read, task } = await taskOf()
    // Block live events, so that this tab does not learn about edits in the other tab.
    await page.route("**/events*", (route) => route.abort())
    await page.reload()
    await name.fill("Daily")
    await person.client.cron.update(task.id, { schedule: "0 4 * * *", retry_count: 1 })
    const sent = page.waitForRequest((request) => request.method() === "PATCH")
    await page.getByRole("button", { name: "Save changes" }).click()
    expect((await sent).postDataJSON()).toEqual({ name: "Daily", version: 2 })
    await page.getByRole("heading", { name: "Daily" }).waitFor()
    expect(await read()).toMatchObject({ name: "Daily", schedule: "0 4 * * *", retry_count: 1 })
  })

  it("shows other users' changes immediately and keeps the typed values", async () => {
    const { name, page, person, task } = await taskOf()
    await name.fill("Daily")
    await person.client.cron.update(task.id, { schedule: "0 4 * * *" })
    await page.getByText("Someone else changed Schedule. The form shows the new values.").waitFor()
    expect(await page.getByRole("textbox", { name: "Schedule" }).inputValue()).toBe("0 4 * * *")
    expect(await name.inputValue()).toBe("Daily")
  })

  it("asks which value to keep if both changed the same field", async () => {
    for (const [button, kept] of [
      ["Keep mine", "Mine"],
      ["Take theirs", "Theirs"]
    ] as const) {
      const { context, name, page, person, read, task } = await taskOf()
      await name.fill("Mine")
      await person.client.cron.update(task.id, { name: "Theirs" })
      const asked = page.getByRole("alert").filter({ hasText: "Which values do you want to keep?" })
      await asked.getByText("Theirs: Theirs").waitFor()
      await page.getByRole("button", { name: "Save changes" }).click()
      await page.getByRole("button", { name: "Save changes" }).isEnabled()
      expect((await read()).name).toBe("Theirs")
      await asked.getByRole("button", { name: button }).click()
      await asked.waitFor({ state: "detached" })
      expect(await name.inputValue()).toBe(kept)
      await page.getByRole("button", { name: "Save changes" }).click()
      await page.getByRole("heading", { name: kept, exact: true }).waitFor()
      expect((await read()).name).toBe(kept)
      await context.close()
    }
  })

  it("shows the new steps of a chain that somebody else changed", async () => {
    const { page, person } = await panel.openAs()
    const url = `${panel.url()}/v1/echo`
    const chain = await person.client.chains.create({
      name: "Export",
      steps: [
        { name: "login", url },
        { name: "upload", url }
      ]
    })
    await page.goto(`${panel.url()}/w/${person.workspaceId}/chains/${chain.id}/edit`)
    await page.getByLabel("Name", { exact: true }).first().fill("Nightly export")
    await person.client.chains.update(chain.id, { steps: [{ name: "all", url }] })
    await page.getByText("Someone else changed Steps.").waitFor()
    await page.getByRole("button", { name: "Save changes" }).click()
    await page.getByRole("heading", { name: "Nightly export" }).waitFor()
    expect(await person.client.chains.get(chain.id)).toMatchObject({
      name: "Nightly export",
      steps: [{ name: "all" }]
    })
  })
})
