import type { Browser, BrowserContextOptions, Page } from "playwright-core"
import { afterAll, beforeAll, inject } from "vitest"
import { stopAgents } from "./agent.ts"
import { chromiumPath, connectToChromium } from "./chromium.ts"
import { type Person, signIn, somebody } from "./people.ts"
import { Service } from "./service.ts"

/** Why there is nothing to test with here. Undefined if there is. */
export const missing =
  chromiumPath === undefined
    ? "SKIPPED: there is no Chromium here. Install Debian's package, or name one in CHROMIUM."
    : undefined

if (missing !== undefined) console.warn(missing)

/** The service that all files share, and the browser. */
export const usePanel = () => useBrowser(() => inject("panelUrl") ?? "")

/** A service for this file alone, which it may stop, and the browser. */
export const useOwnPanel = (environment: NodeJS.ProcessEnv = {}) => {
  let service: Service
  beforeAll(async () => {
    service = await Service.start(environment)
  })
  afterAll(() => service[Symbol.asyncDispose]())
  return { ...useBrowser(() => service.url), service: () => service }
}

const useBrowser = (url: () => string) => {
  let browser: Browser
  beforeAll(async () => {
    browser = await connectToChromium(inject("browserEndpoint"))
  })
  afterAll(async () => {
    await browser.close()
    await stopAgents()
  })

  return {
    url,
    /** A browser of its own, whose errors fail the test that asks for `problems`. */
    open: async (options: BrowserContextOptions = {}) => {
      const context = await browser.newContext({ reducedMotion: "reduce", ...options })
      const page = await context.newPage()
      return { context, page, problems: problemsOf(page) }
    },
    /** Somebody who is signed in. */
    openAs: async (person?: Person, options: BrowserContextOptions = {}) => {
      const who = person ?? (await somebody(url()))
      const context = await browser.newContext({ reducedMotion: "reduce", ...options })
      const page = await context.newPage()
      const problems = problemsOf(page)
      await signIn(page, url(), who)
      return { context, page, person: who, problems }
    }
  }
}

/** What the browser complained about: errors of scripts, and what the policy refused. */
const problemsOf = (page: Page): ReadonlyArray<string> => {
  const problems: Array<string> = []
  page.on("pageerror", (error) => problems.push(error.message))
  page.on("console", (message) => {
    const isRefusal = /Failed to load resource/.test(message.text())
    if (message.type() === "error" && !isRefusal) problems.push(message.text())
  })
  return problems
}
