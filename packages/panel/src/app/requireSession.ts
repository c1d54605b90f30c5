import { redirect } from "@tanstack/react-router"
import { session } from "../data/session.ts"

/** Redirects users who are not signed in to the sign-in page, and back to this page afterwards. */
export const requireSession = async ({ href }: { readonly href: string }): Promise<void> => {
  if (await session.isOpen()) return
  const to = session.awaitsFirstAccount ? "/register" : "/sign-in"
  throw redirect({ to, search: href === "/" ? {} : { next: href }, replace: true })
}
