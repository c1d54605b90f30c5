import { createRoute, redirect } from "@tanstack/react-router"
import { lastWorkspace } from "./app/lastWorkspace.ts"
import { lazyPage } from "./app/lazyPage.ts"
import { requireSession } from "./app/requireSession.ts"
import { usageSearch } from "./billing/search.ts"
import { queryClient, workspacesOptions } from "./data/queries.ts"
import { monitoringRoutes } from "./monitoringRoutes.tsx"
import { signedInRoute, rootRoute, workspaceRoute } from "./parentRoutes.tsx"
import { takeLinkToken } from "./sign-in/linkToken.ts"
import { taskRoutes } from "./taskRoutes.tsx"
import { searchTextOf } from "./ui/lists/search.ts"
import { workspaceRoutes } from "./workspaceRoutes.tsx"

/** Accepts only a path within the panel, because `//evil.example` would lead to another site. */
const nextSearch = ({ next }: Record<string, unknown>): { readonly next?: string } =>
  typeof next === "string" && /^\/(?![/\\])/.test(next) ? { next } : {}

const signIn = createRoute({
  getParentRoute: () => rootRoute,
  path: "/sign-in",
  // The server adds `problem` when a user returns from the identity provider without being signed
  // in.
  validateSearch: (search): { readonly next?: string; readonly problem?: string } => {
    const problem = searchTextOf(search["problem"])
    return { ...nextSearch(search), ...(problem !== undefined && { problem }) }
  },
  component: lazyPage(() => import("./sign-in/SignInPage.tsx"), "SignInPage")
})

const register = createRoute({
  getParentRoute: () => rootRoute,
  path: "/register",
  validateSearch: nextSearch,
  component: lazyPage(() => import("./sign-in/RegisterPage.tsx"), "RegisterPage")
})

const forgotPassword = createRoute({
  getParentRoute: () => rootRoute,
  path: "/forgot-password",
  component: lazyPage(() => import("./sign-in/ForgotPasswordPage.tsx"), "ForgotPasswordPage")
})

const resetPassword = createRoute({
  getParentRoute: () => rootRoute,
  path: "/reset-password",
  component: lazyPage(() => import("./sign-in/ResetPasswordPage.tsx"), "ResetPasswordPage")
})

const signInLink = createRoute({
  getParentRoute: () => rootRoute,
  path: "/sign-in-link",
  component: lazyPage(() => import("./sign-in/SignInLinkPage.tsx"), "SignInLinkPage")
})

const invitation = createRoute({
  getParentRoute: () => rootRoute,
  path: "/invitation",
  beforeLoad: ({ location }) => {
    takeLinkToken()
    return requireSession(location)
  },
  component: lazyPage(() => import("./sign-in/InvitationPage.tsx"), "InvitationPage")
})

type HomeSearch = ReturnType<typeof usageSearch> & { readonly workspace?: string }

const home = createRoute({
  getParentRoute: () => rootRoute,
  path: "/",
  // The payment provider redirects users to this URL.
  validateSearch: (search): HomeSearch => {
    const named = searchTextOf(search["workspace"])
    return { ...usageSearch(search), ...(named !== undefined && { workspace: named }) }
  },
  beforeLoad: async ({ location, search: { checkout, workspace: named } }) => {
    await requireSession(location)
    const workspaces = await queryClient.ensureQueryData(workspacesOptions)
    const wanted = named ?? lastWorkspace()
    const known = workspaces.find(({ id }) => id === wanted) ?? workspaces.at(-1)
    if (known === undefined) throw redirect({ to: "/welcome", replace: true })
    const params = { workspaceId: known.id }
    throw checkout === undefined
      ? redirect({ to: "/w/$workspaceId", params, replace: true })
      : redirect({ to: "/w/$workspaceId/usage", params, search: { checkout }, replace: true })
  }
})

const welcome = createRoute({
  getParentRoute: () => signedInRoute,
  path: "/welcome",
  component: lazyPage(() => import("./app/WelcomePage.tsx"), "WelcomePage")
})

const account = createRoute({
  getParentRoute: () => signedInRoute,
  path: "/account/settings",
  component: lazyPage(() => import("./account/AccountPage.tsx"), "AccountPage")
})

export const routeTree = rootRoute.addChildren([
  home,
  signIn,
  register,
  forgotPassword,
  resetPassword,
  signInLink,
  invitation,
  signedInRoute.addChildren([
    welcome,
    account,
    workspaceRoute.addChildren([...taskRoutes, ...monitoringRoutes, ...workspaceRoutes])
  ])
])
