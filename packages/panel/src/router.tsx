import { createRouter } from "@tanstack/react-router"
import { routeTree } from "./routes.tsx"
import { Loading } from "./app/Loading.tsx"
import { NotFound } from "./app/NotFound.tsx"
import { PageFailed } from "./app/PageFailed.tsx"

export const router = createRouter({
  routeTree,
  // Removes search parameters that the page does not declare.
  search: { strict: true },
  // Preloads the code and the data of a page when its link is hovered.
  defaultPreload: "intent",
  defaultPreloadDelay: 30,
  defaultPendingMs: 100,
  defaultPendingMinMs: 200,
  scrollRestoration: true,
  // The state of a page belongs to its record.
  defaultRemountDeps: ({ params }) => params,
  defaultNotFoundComponent: NotFound,
  defaultPendingComponent: Loading,
  defaultErrorComponent: PageFailed
})

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router
  }
}
