import "./theme.css"
import { QueryClientProvider } from "@tanstack/react-query"
import { type AnyRoute, RouterProvider } from "@tanstack/react-router"
import { StrictMode } from "react"
import { createRoot } from "react-dom/client"
import { RateLimitNotice } from "./app/RateLimitNotice.tsx"
import { queryClient } from "./data/queries.ts"
import { router } from "./router.tsx"
import { submitByKeys } from "./ui/forms/submitByKeys.ts"
import { Toaster } from "./ui/messages/Toaster.tsx"

submitByKeys()

const root = document.getElementById("root")
if (root === null) throw new Error("the page has no #root")

// Load the page's code while the session is renewed. The router retries a failed load.
const routes: Readonly<Record<string, AnyRoute | undefined>> = router.routesById
for (const { routeId } of router.matchRoutes(router.latestLocation)) {
  const route = routes[String(routeId)]
  if (route !== undefined) router.loadRouteChunk(route)?.catch(() => undefined)
}

createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={queryClient}>
      <RouterProvider router={router} />
      <Toaster />
      <RateLimitNotice />
    </QueryClientProvider>
  </StrictMode>
)
