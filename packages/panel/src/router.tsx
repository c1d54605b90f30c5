import { createRouter } from "@tanstack/react-router"
import { routeTree } from "./routes.tsx"
import { NotFound } from "./app/NotFound.tsx"
import { Page, Skeleton } from "./ui/layout/Page.tsx"
import { Problem } from "./ui/messages/Problem.tsx"

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
  defaultPendingComponent: () => (
    <Page title={<Skeleton className="h-7 w-48" />} name="Loading">
      <Skeleton className="h-64" />
    </Page>
  ),
  defaultErrorComponent: ({ error, reset }) => (
    <Page title="Something went wrong" width="narrow">
      <Problem error={error} retry={reset} />
    </Page>
  )
})

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router
  }
}
