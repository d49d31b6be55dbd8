export const STATUS_CODE: {
  readonly OK: 200;
  readonly Found: 302;
  readonly BadRequest: 400;
  readonly Unauthorized: 401;
  readonly Forbidden: 403;
  readonly NotFound: 404;
  readonly MethodNotAllowed: 405;
  readonly Conflict: 409;
  readonly ContentTooLarge: 413;
  readonly TooManyRequests: 429;
  readonly InternalServerError: 500;
  readonly BadGateway: 502;
  readonly ServiceUnavailable: 503;
  readonly GatewayTimeout: 504;
};
export const STATUS_TEXT: Readonly<Record<number, string>>;
