import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import type { ComponentProps } from "react"
import { signInOptions } from "../data/signInOptions.ts"
import { AuthPage, textLinkClass } from "./AuthPage.tsx"

/**
 * A page about passwords. If passwords are disabled on the server, it links to the other sign-in
 * methods.
 */
export const PasswordPage = ({ below, children, ...page }: ComponentProps<typeof AuthPage>) => {
  const { data: options } = useQuery(signInOptions)
  if (options?.password !== false) {
    return (
      <AuthPage {...page} below={below}>
        {children}
      </AuthPage>
    )
  }
  return (
    <AuthPage title={page.title}>
      <p>
        Sign-in with passwords is turned off on this server.{" "}
        <Link to="/sign-in" className={textLinkClass}>
          Sign in another way
        </Link>
        .
      </p>
    </AuthPage>
  )
}
