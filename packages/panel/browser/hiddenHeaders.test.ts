import { describe, expect, it } from "vitest"
import { skipReason, usePanel } from "./support/panel.ts"
import { startReceiver } from "./support/startReceiver.ts"

const mask = "•••"
const secretHint = "Use {{ secrets.NAME }} to keep the value out of the task."

describe.skipIf(skipReason !== undefined)("credentials in the headers of tasks", () => {
  const panel = usePanel()

  it("stay hidden and the same when a task is edited, until a new value is typed", async () => {
    const { page, person, problems } = await panel.openAs()
    const { answer, url } = await startReceiver()
    const task = await person.client.cron.create({
      name: "Nightly",
      schedule: "0 3 * * *",
      url,
      headers: { authorization: "Bearer old", "x-team": "billing" }
    })
    const at = `${panel.url()}/w/${person.workspaceId}/cron/${task.id}`
    await page.goto(at)
    await page.getByText(`authorization: ${mask}`).waitFor()
    const edit = async (header: "team" | "authorization", value: string) => {
      await page.goto(`${at}/edit`)
      const team = page.getByLabel("Value of header 1", { exact: true })
      const authorization = page.getByLabel("Value of header 2", { exact: true })
      await team.waitFor()
      expect(await authorization.inputValue()).toBe(mask)
      await page.getByText(`is hidden and stays the same. ${secretHint}`).waitFor()
      // Typing replaces the mask, because clicking the field selects it.
      const input = header === "team" ? team : authorization
      await input.click()
      if (header === "team") await page.keyboard.press("ControlOrMeta+A")
      await page.keyboard.type(value)
      await page.getByRole("button", { name: "Save changes" }).click()
      await page.getByRole("heading", { name: "Nightly", exact: true }).waitFor()
      await person.client.cron.runAndWait(task.id)
    }
    await edit("team", "sales")
    expect(answer.calls.at(-1)).toMatchObject({ authorization: "Bearer old", "x-team": "sales" })
    await edit("authorization", "Bearer new")
    expect(answer.calls.at(-1)).toMatchObject({ authorization: "Bearer new", "x-team": "sales" })
    expect(problems).toEqual([])
  })

  it("are asked for when a task is duplicated", async () => {
    const { page, person, problems } = await panel.openAs()
    const call = {
      url: `${panel.url()}/v1/echo`,
      headers: { "x-team": "billing", "x-api-key": "old" }
    }
    await person.client.cron.create({ name: "Nightly", schedule: "0 3 * * *", ...call })
    await person.client.delayed.create({ name: "Later", delay_seconds: 86_400, ...call })
    await person.client.chains.create({ name: "Steps", steps: [{ name: "first", ...call }] })
    const copies = [
      ["cron", "Nightly", "Create cron task", "Nightly (copy)"],
      ["delayed", "Later", "Create delayed task", "Later"],
      ["chains", "Steps", "Create chain", "Steps (copy)"]
    ] as const
    for (const [noun, name, create, copy] of copies) {
      await page.goto(`${panel.url()}/w/${person.workspaceId}/${noun}`)
      await page.getByRole("link", { name, exact: true }).click()
      await page.getByRole("heading", { name, level: 1 }).waitFor()
      if (noun === "delayed") await page.getByRole("link", { name: "Duplicate" }).click()
      else {
        await page.getByRole("button", { name: `Actions for ${name}` }).click()
        await page.getByRole("menuitem", { name: "Duplicate" }).click()
      }
      const value = page.getByLabel("Value of header 2", { exact: true })
      await value.waitFor()
      expect(await value.inputValue()).toBe("")
      await page.getByText(`Masked values are not copied: enter them again`).waitFor()
      await page.getByRole("button", { name: create }).click()
      expect(await value.evaluate((input: HTMLInputElement) => input.validity.valueMissing)).toBe(
        true
      )
      await value.fill("new")
      await page.getByRole("button", { name: create }).click()
      await page.getByRole("heading", { name: copy }).waitFor()
      await page.getByText(`x-api-key: ${mask}`).first().waitFor({ state: "attached" })
    }
    expect(problems).toEqual([])
  })

  it("are asked for when a step gets another name", async () => {
    const { page, person } = await panel.openAs()
    const chain = await person.client.chains.create({
      name: "Steps",
      steps: [{ name: "first", url: `${panel.url()}/v1/echo`, headers: { "x-api-key": "old" } }]
    })
    await page.goto(`${panel.url()}/w/${person.workspaceId}/chains/${chain.id}/edit`)
    await page.getByLabel("Name", { exact: true }).nth(1).fill("renamed")
    await page.getByRole("button", { name: "Save changes" }).click()
    await page
      .getByRole("alert")
      .filter({ hasText: `contains the mask ${mask}` })
      .first()
      .waitFor()
    await page.getByLabel("Value of header 1", { exact: true }).fill("new")
    await page.getByRole("button", { name: "Save changes" }).click()
    await page.getByRole("link", { name: "Edit" }).waitFor()
    const { steps } = await person.client.chains.get(chain.id)
    expect(steps).toMatchObject([{ name: "renamed", headers: { "x-api-key": mask } }])
  })

  it("are variables of the shell in the curl command of an execution", async () => {
    const { page, person, problems } = await panel.openAs()
    const { id } = await person.client.cron.create({
      name: "Nightly",
      schedule: "0 3 * * *",
      url: `${panel.url()}/v1/echo`,
      headers: { "x-api-key": "old" }
    })
    const run = await person.client.cron.runAndWait(id)
    await page.goto(`${panel.url()}/w/${person.workspaceId}/executions/${run.id}`)
    const curl = page.getByRole("region", { name: "curl command" })
    await curl.getByText(`-H 'x-api-key: '"\${X_API_KEY:?}"`).waitFor()
    expect(await curl.textContent()).not.toContain(mask)
    await page.getByText("set X_API_KEY in your shell first").waitFor()
    expect(problems).toEqual([])
  })
})
