import { createRouter } from "@tanstack/react-router"
import { routeTree } from "./routes.tsx"
import { Loading } from "./app/Loading.tsx"
import { NotFound } from "./app/NotFound.tsx"
import { PageFailed } from "./app/PageFailed.tsx"

export const router = createRouter({
  routeTree,
  // Drops search parameters that the page does not declare.
  search: { strict: true },
  // Loads the code and the data of a page when the pointer reaches its link.
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
