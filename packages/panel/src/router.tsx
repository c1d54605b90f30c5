import { createRouter } from "@tanstack/react-router"
import { routeTree } from "./routes.tsx"
import { Loading } from "./app/Loading.tsx"
import { NotFound } from "./app/NotFound.tsx"
import { PageFailed } from "./app/PageFailed.tsx"

export const router = createRouter({
  routeTree,
  // What an address says counts only where the page knows it.
  search: { strict: true },
  // The code and the data of a page are on their way before the press ends.
  defaultPreload: "intent",
  defaultPreloadDelay: 30,
  defaultPendingMs: 100,
  defaultPendingMinMs: 200,
  scrollRestoration: true,
  defaultNotFoundComponent: NotFound,
  defaultPendingComponent: Loading,
  defaultErrorComponent: PageFailed
})

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router
  }
}
