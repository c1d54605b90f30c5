import type { TestProject } from "vitest/node"
import { chromiumPath, serveChromium } from "./chromium.ts"
import { Service } from "./service.ts"

declare module "vitest" {
  interface ProvidedContext {
    /** The URL of the service that all test files share. Undefined if there is no browser. */
    readonly panelUrl: string | undefined
    /** The URL for connecting to the browser. */
    readonly browserEndpoint: string
  }
}

/** Starts one service and one browser for all test files, because starting them takes 6 seconds. */
export default async function setup(project: TestProject): Promise<(() => Promise<void>) | void> {
  if (chromiumPath === undefined) return
  const [service, browser] = await Promise.all([Service.start(), serveChromium()])
  project.provide("panelUrl", service.url)
  project.provide("browserEndpoint", browser.wsEndpoint())
  return async () => {
    await browser.close()
    await service[Symbol.asyncDispose]()
  }
}
