import { describe, expect, it } from "vitest"
import { holdRequests } from "./support/hold.ts"
import { skipReason, usePanel } from "./support/panel.ts"

describe.skipIf(skipReason !== undefined)("tasks in a list", () => {
  const panel = usePanel()

  it("are paused, resumed and deleted together", async () => {
    const { page, person, problems } = await panel.openAs()
    const url = `${panel.url()}/v1/echo`
    for (const name of ["One", "Two", "Three"]) {
      await person.client.cron.create({ name, schedule: "0 5 * * *", url })
    }
    const states = async () =>
      (await person.client.cron.list()).data.map(({ name, status }) => `${name} ${status}`)
    await page.goto(`${panel.url()}/w/${person.workspaceId}/cron`)
    const bar = page.getByRole("toolbar", { name: "Selected" })
    await page.getByLabel("Select all loaded tasks").check()
    await bar.getByText("3 selected").waitFor()
    await bar.getByRole("button", { name: "Pause" }).click()
    await page.getByText("3 tasks were paused").waitFor()
    expect(await states()).toEqual(["Three paused", "Two paused", "One paused"])
    await bar.waitFor({ state: "detached" })

    await page.getByLabel("Select Two").check()
    await bar.getByRole("button", { name: "Resume" }).click()
    await page.getByText("1 task was resumed").waitFor()
    await page.getByLabel("Select One").check()
    await page.getByLabel("Select Three").check()
    await bar.getByRole("button", { name: "Delete" }).click()
    await page.getByRole("dialog", { name: "Delete 2 tasks?" }).waitFor()
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click()
    await page.getByText("2 tasks were deleted").waitFor()
    expect(await states()).toEqual(["Two active"])
    expect(problems).toEqual([])
  })

  it("are selected if they are loaded, or if they match the filter", async () => {
    const { page, person } = await panel.openAs()
    const url = `${panel.url()}/v1/echo`
    const { client, workspaceId } = person
    const task = (name: string) => ({ name, schedule: "0 5 * * *", url })
    await client.cron.create(task("Keep"))
    for (let batch = 0; batch < 3; batch++) {
      await client.cron.createMany({
        items: Array.from({ length: 70 }, (_, index) => task(`Old ${batch} ${index}`))
      })
    }
    await page.goto(`${panel.url()}/w/${workspaceId}/cron?name=Old`)
    const bar = page.getByRole("toolbar", { name: "Selected" })
    await page.getByLabel("Select all loaded tasks").check()
    await bar.getByText("100 loaded selected").waitFor()
    await bar.getByRole("button", { name: "Select all matching tasks" }).click()
    await bar.getByText("210 selected").waitFor()
    await bar.getByRole("button", { name: "Pause" }).click()
    await page.getByText("210 tasks were paused").waitFor()
    const paused = await client.cron.list({ status: "paused" }).toArray({ limit: 500 })
    expect(paused.length).toBe(210)
    const [kept] = await client.cron.list({ name: "Keep" }).toArray({ limit: 5 })
    expect(kept?.status).toBe("active")
  })

  it("are copied, chains with their steps and delayed tasks with a new time", async () => {
    const { page, person, problems } = await panel.openAs()
    const url = `${panel.url()}/v1/echo`
    const chain = await person.client.chains.create({
      name: "Export",
      steps: [
        { name: "login", url },
        { name: "fetch", url }
      ]
    })
    const task = await person.client.delayed.create({ name: "Remind", url, delay_seconds: 0 })
    const w = `${panel.url()}/w/${person.workspaceId}`
    await page.goto(`${w}/chains`)
    await page.getByRole("button", { name: "Actions for Export" }).click()
    await page.getByRole("menuitem", { name: "Duplicate" }).click()
    await page.getByRole("button", { name: "Create chain" }).click()
    await page.getByRole("heading", { name: "Export (copy)" }).waitFor()
    const copies = await person.client.chains.list()
    expect(copies.data.map(({ steps }) => steps.length)).toEqual([2, 2])
    expect(copies.data[1]?.id).toBe(chain.id)

    await page.goto(`${w}/delayed/${task.id}`)
    await page.getByRole("link", { name: "Duplicate" }).click()
    await page.getByLabel("Delay", { exact: true }).fill("2")
    await page.getByRole("button", { name: "Create delayed task" }).click()
    await page.getByRole("button", { name: "Cancel task" }).waitFor()
    expect((await person.client.delayed.list()).data.map(({ name }) => name)).toEqual([
      "Remind",
      "Remind"
    ])
    expect(problems).toEqual([])
  })

  it("are reported if they failed after the user had gone to another page", async () => {
    const { page, person } = await panel.openAs()
    const url = `${panel.url()}/v1/echo`
    await person.client.cron.create({ name: "One", schedule: "0 5 * * *", url })
    await page.goto(`${panel.url()}/w/${person.workspaceId}/cron`)
    await page.route("**/pause", (route) =>
      route.fulfill({ status: 400, json: { detail: { error: "invalid", message: "Rejected." } } })
    )
    const pause = await holdRequests(page, "**/pause", "POST")
    await page.getByLabel("Select all loaded tasks").check()
    await page.getByRole("button", { name: "Pause" }).click()
    await pause.isHeld
    const asksToStay = await page.evaluate(
      () => !dispatchEvent(new Event("beforeunload", { cancelable: true }))
    )
    expect(asksToStay).toBe(true)
    await page.getByRole("navigation").getByRole("link", { name: "Queues" }).click()
    await page.getByText("No queues yet").waitFor()
    pause.release()
    await page.getByText("1 of 1 task failed").waitFor()
  })

  it("are not selected if the filter changes while they are loaded", async () => {
    const { page, person } = await panel.openAs()
    const { client, workspaceId } = person
    const url = `${panel.url()}/v1/echo`
    const task = (name: string) => ({ name, schedule: "0 5 * * *", url })
    await client.cron.create(task("Keep"))
    for (let batch = 0; batch < 2; batch++) {
      await client.cron.createMany({
        items: Array.from({ length: 70 }, (_, index) => task(`Old ${batch} ${index}`))
      })
    }
    const rest = await holdRequests(page, /\/cron\?.*cursor=/)
    await page.goto(`${panel.url()}/w/${workspaceId}/cron?name=Old`)
    await page.getByLabel("Select all loaded tasks").check()
    await page.getByRole("button", { name: "Select all matching tasks" }).click()
    await page.getByRole("searchbox", { name: "Filter by name" }).fill("Keep")
    await page.getByRole("link", { name: "Keep" }).waitFor()
    expect(await page.getByLabel("Select Keep").isChecked()).toBe(false)
    rest.release()
  })
})
