#include "server.h"

#include <arpa/inet.h>
#include <event2/event.h>
#include <event2/http.h>
#include <fmt/format.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <memory>
#include <system_error>

#include "answers/topics.h"
#include "base/error.h"
#include "exchange.h"
#include "io/value_json.h"
#include "metrics.h"
#include "openapi.h"
#include "workers.h"

namespace tidemark::serve {
namespace {

struct FreeEvent {
  void operator()(event_base* base) const { event_base_free(base); }
  void operator()(event* one) const { event_free(one); }
  void operator()(evhttp* http) const { evhttp_free(http); }
};

constexpr const char *kJson = "application/json", *kMetrics = "text/plain; version=0.0.4";

int status_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::good: return 200;
    case Outcome::wrong: return 400;
    case Outcome::unsupported: return 422;
    default: return 500;
  }
}

const answers::Topic* topic_at(std::string_view path) {
  constexpr std::string_view kPrefix = "/v1/";
  if (!path.starts_with(kPrefix)) return nullptr;
  for (const answers::Topic& topic : answers::topics())
    if (topic.is_served && path.substr(kPrefix.size()) == topic.name) return &topic;
  return nullptr;
}

[[noreturn]] void fail(const char* what, const Address& address) {
  throw Error(Errc::io, fmt::format("{}: {}", what, std::generic_category().message(errno)),
              fmt::format("{}:{}", address.host, address.port));
}

int listening(const Address& address) {
  sockaddr_in where{};
  where.sin_family = AF_INET;
  where.sin_port = htons(static_cast<std::uint16_t>(address.port));
  if (::inet_pton(AF_INET, address.host.c_str(), &where.sin_addr) != 1)
    throw Error(Errc::bad_value, fmt::format("\"{}\" is no address", address.host), "--host",
                "write it in numbers: 127.0.0.1, or 0.0.0.0 for all");
  const int one = 1, socket = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  // Linux hands it on to connections: the end of an answer else waits for the client's delayed acknowledgement, 40 ms.
  ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  if (::bind(socket, reinterpret_cast<const sockaddr*>(&where), sizeof where) != 0) fail("cannot listen", address);
  if (::listen(socket, SOMAXCONN) != 0) fail("cannot listen", address);
  return socket;
}

int port_of(int socket) {
  sockaddr_in where{};
  socklen_t size = sizeof where;
  ::getsockname(socket, reinterpret_cast<sockaddr*>(&where), &size);
  return ntohs(where.sin_port);
}

class Server {
 public:
  Server(const Address& address, const answers::Data& data, const Limits& limits)
      : base_(event_base_new()),
        http_(evhttp_new(base_.get())),
        data_(data),
        openapi_(openapi(data.version)),
        limits_(limits),
        socket_(listening(address)),
        workers_(base_.get(), data, limits) {
    evhttp_set_max_body_size(http_.get(), static_cast<ev_ssize_t>(limits.body_bytes));
    evhttp_set_max_headers_size(http_.get(), 16 << 10);
    evhttp_set_timeout(http_.get(), static_cast<int>(limits.idle_seconds));
    evhttp_set_allowed_methods(http_.get(), EVHTTP_REQ_GET | EVHTTP_REQ_HEAD | EVHTTP_REQ_POST);
    evhttp_set_gencb(
        http_.get(), [](evhttp_request* request, void* self) { static_cast<Server*>(self)->take(request); }, this);
    bound_ = evhttp_accept_socket_with_handle(http_.get(), socket_);
    for (const int signal : {SIGTERM, SIGINT}) {
      signals_.emplace_back(evsignal_new(
          base_.get(), signal, [](evutil_socket_t, short, void* self) { static_cast<Server*>(self)->end(); }, this));
      event_add(signals_.back().get(), nullptr);
    }
    ::signal(SIGPIPE, SIG_IGN);
    fmt::print("listening on http://{}:{}\n", address.host, port_of(socket_));
    std::fflush(stdout);
  }

  void run() { event_base_dispatch(base_.get()); }

 private:
  void take(evhttp_request* request) {
    const std::string_view path = evhttp_uri_get_path(evhttp_request_get_evhttp_uri(request));
    const bool is_post = evhttp_request_get_command(request) == EVHTTP_REQ_POST;
    const answers::Topic* topic = topic_at(path);
    auto exchange = std::make_shared<Exchange>(request, metrics_, topic ? std::string(topic->name) : "other");
    if (topic && is_post) return ask(exchange);
    if (topic) return exchange->refuse(405, "usage", "a question is sent by POST, as JSON");
    const bool is_known = path == "/health" || path == "/metrics" || path == "/openapi.json";
    if (!is_known)
      return exchange->refuse(404, "not_found", "there is nothing here", "/openapi.json says what there is");
    if (is_post) return exchange->refuse(405, "usage", "it is asked for by GET");
    if (path == "/health") return health(*exchange);
    if (path == "/metrics") return exchange->reply(200, kMetrics, metrics_.text(workers_));
    exchange->reply(200, kJson, openapi_);
  }

  void health(Exchange& exchange) const {
    const Value state = Value::Map{{"status", is_ending_ ? "ending" : "ok"}, {"version", data_.version}};
    exchange.reply(is_ending_ ? 503 : 200, kJson, io::value_to_json_line(state));
  }

  void ask(const std::shared_ptr<Exchange>& exchange) {
    if (is_ending_) return exchange->refuse(503, "busy", "the server is ending");
    Job job{.topic = exchange->topic(), .question = exchange->body(), .done = {}};
    ++open_;
    job.done = [this, exchange](End end, Outcome outcome, std::string answer) {
      reply(*exchange, end, outcome, answer);
      if (--open_ == 0 && is_ending_) leave();
    };
    if (workers_.take(std::move(job))) return;
    --open_;
    exchange->refuse(503, "busy", "too much is asked at once", "ask again in a moment");
  }

  void reply(Exchange& exchange, End end, Outcome outcome, const std::string& answer) const {
    if (end == End::out_of_time)
      return exchange.refuse(503, "too_long", fmt::format("there was no answer within {} s", limits_.answer_seconds),
                             "ask for less at once, or raise --seconds");
    if (end == End::died) return exchange.refuse(500, "bug", "the worker ended", "please report it");
    if (outcome == Outcome::out_of_memory)
      return exchange.refuse(503, "too_large", "the answer takes more memory than a worker has",
                             "ask for less at once, or raise --worker-memory");
    exchange.reply(status_of(outcome), kJson, answer);
  }

  void end() {
    if (is_ending_) return;
    is_ending_ = true;
    evhttp_del_accept_socket(http_.get(), bound_);
    if (open_ == 0) leave();
  }

  // What has been replied is still to be sent.
  void leave() {
    const timeval soon{.tv_sec = 0, .tv_usec = 200'000};
    event_base_loopexit(base_.get(), &soon);
  }

  std::unique_ptr<event_base, FreeEvent> base_;
  std::unique_ptr<evhttp, FreeEvent> http_;
  const answers::Data& data_;
  const std::string openapi_;
  const Limits limits_;
  const int socket_;
  Metrics metrics_;
  Workers workers_;
  std::vector<std::unique_ptr<event, FreeEvent>> signals_;
  evhttp_bound_socket* bound_ = nullptr;
  std::int64_t open_ = 0;
  bool is_ending_ = false;
};

}  // namespace

void serve(const Address& address, const answers::Data& data, const Limits& limits) {
  Server(address, data, limits).run();
}

}  // namespace tidemark::serve
